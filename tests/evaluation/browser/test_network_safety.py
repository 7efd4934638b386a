"""Nothing that a page can do leads Chromium where the case does not allow it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.opening import visit
from poor_bench.evaluation.browser.session import ActionError
from tests.evaluation.browser.conftest import Trials
from tests.evaluation.browser.sites import PUBLIC, Answer, FakeInternet, served

pytestmark = pytest.mark.browser

WAYS = (
    "image", "script", "style", "frame", "fetch", "beacon", "socket", "popup", "decimal", "octal",
    "hexadecimal", "mapped", "name", "redirect", "prefetch", "events", "form", "object", "embed",
    "worker", "import", "video", "prerender", "ping", "download", "manifest",
)  # fmt: skip
"""Each makes a request whose query is its name."""
HEARD = set(WAYS) - {
    "prefetch", "popup", "style", "import", "video", "prerender", "ping", "download", "manifest",
}  # fmt: skip
"""What at least comes through where nothing is refused."""
_LEAST_WAITS, _MOST_WAITS = 40, 600


class Victim:
    """A server in the private network that must never hear of anything, over TCP or UDP."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [threading.Thread(target=each) for each in (self._accept, self._receive)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        for server in (self._tcp, self._udp):
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
        self._udp.close()
        self._tcp.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", self.port))

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._tcp.accept()
            except OSError:
                return
            self.heard.add("tcp")
            threading.Thread(target=self._hear, args=(connection,)).start()

    def _hear(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(20)
            line = connection.recv(4000).partition(b"\r\n")[0].decode("latin-1")
            self.heard.update({way for way in WAYS if f"?{way} " in line} or {line})

    def _receive(self) -> None:
        try:
            data, _address = self._udp.recvfrom(1000)
        except OSError:
            return
        self.heard.add(f"udp {data!r}")


@contextmanager
def listening() -> Iterator[Victim]:
    victim = Victim()
    victim.start()
    try:
        yield victim
    finally:
        victim.stop()


def trap(port: int) -> str:
    """Return a page that tries every way to reach a port of this machine."""
    at = f"127.0.0.1:{port}"
    return f"""<title>trap</title>
<link rel="prefetch" href="http://{at}/?prefetch"><link rel="stylesheet" href="http://{at}/?style">
<img src="http://{at}/?image"><img src="/go"><script src="http://{at}/?script"></script>
<img src="http://2130706433:{port}/?decimal"><img src="http://0177.0.0.1:{port}/?octal">
<img src="http://0x7f.1:{port}/?hexadecimal"><img src="http://[::ffff:127.0.0.1]:{port}/?mapped">
<img src="http://inside.example:{port}/?name"><iframe src="http://{at}/?frame"></iframe>
<link rel="preconnect" href="http://{at}/"><link rel="dns-prefetch" href="http://{at}/">
<link rel="preconnect" href="http://inside.example:{port}/">
<link rel="manifest" href="http://{at}/?manifest"><video src="http://{at}/?video" autoplay></video>
<object data="http://{at}/?object"></object><embed src="http://{at}/?embed">
<style>@import url("http://{at}/?import");</style>
<iframe name="sink"></iframe><iframe name="saved"></iframe>
<form method="post" target="sink" action="http://{at}/?form"><input name="a" value="b"></form>
<a id="ping" href="#x" ping="http://{at}/?ping">x</a>
<a id="download" href="http://{at}/?download" download="x" target="saved">x</a>
<script type="speculationrules">{{"prerender": [{{"urls": ["http://{at}/?prerender"]}}]}}</script>
<script>
document.forms[0].submit();
document.getElementById('ping').click();
document.getElementById('download').click();
new EventSource('http://{at}/?events');
const code = "fetch('http://{at}/?worker', {{mode: 'no-cors'}}).catch(() => 0)";
new Worker(URL.createObjectURL(new Blob([code])));
for (const transport of ['udp', 'tcp']) {{
  const turn = {{urls: 'turn:{at}?transport=' + transport, username: 'a', credential: 'b'}};
  const relayed = new RTCPeerConnection({{iceServers: [turn], iceTransportPolicy: 'relay'}});
  relayed.createDataChannel('x');
  relayed.createOffer().then(offer => relayed.setLocalDescription(offer));
}}
fetch('http://{at}/?fetch', {{mode: 'no-cors'}}).catch(() => 0);
navigator.sendBeacon('http://{at}/?beacon', 'x');
try {{ new WebSocket('ws://{at}/?socket'); }} catch (error) {{}}
window.open('http://{at}/?popup');
const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{at}'}}]}});
peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
try {{ new WebTransport('https://{at}/').ready.catch(() => 0); }} catch (error) {{}}
</script>"""


@contextmanager
def trapped(
    trials: Trials, *, allow_private: bool, has_tried_all: Callable[[Victim, list[str]], bool]
) -> Iterator[tuple[Victim, list[str]]]:
    """Open the trap from a public address; yield the victim and the hosts that were refused."""
    with listening() as victim:
        redirect = Answer(
            status=302, headers={"Location": f"http://127.0.0.1:{victim.port}/?redirect"}
        )
        with served({"/": trap(victim.port), "/go": redirect}) as site:
            names = {"shop.example": PUBLIC, "inside.example": "127.0.0.1"}
            trials.network = FakeInternet(names, {PUBLIC: site.port})
            with trials.session(
                start_url="http://shop.example/", allow_private_networks=allow_private
            ) as session:
                trap_page = session.page.context.pages[0]
                for n_waits in range(_MOST_WAITS):
                    trap_page.wait_for_timeout(50)
                    refused = [each.host for each in session.refusals]
                    if n_waits >= _LEAST_WAITS and has_tried_all(victim, refused):
                        break
                yield victim, refused


def test_no_way_leads_to_a_private_address(trials: Trials) -> None:
    def has_tried_all(_victim: Victim, refused: list[str]) -> bool:
        return len(refused) >= 10 and set(refused) >= {"127.0.0.1", "inside.example"}

    with trapped(trials, allow_private=False, has_tried_all=has_tried_all) as (victim, refused):
        assert victim.heard == set()
    assert has_tried_all(victim, refused), refused


def test_the_same_ways_lead_there_where_the_case_allows_it(trials: Trials) -> None:
    """Shows that the page above does try them."""

    def has_tried_all(victim: Victim, _refused: list[str]) -> bool:
        return victim.heard >= HEARD

    with trapped(trials, allow_private=True, has_tried_all=has_tried_all) as (victim, refused):
        heard = set(victim.heard)
    assert refused == []
    assert heard >= HEARD, HEARD - heard


def test_a_page_gets_no_service_worker(trials: Trials) -> None:
    """One would answer for its pages in later steps, and ask servers while no page is open."""
    page = """<title>no worker</title><script>
    navigator.serviceWorker.register('/worker.js')
      .then(() => navigator.serviceWorker.getRegistrations())
      .then(all => { document.title = 'registered ' + all.length; })
      .catch(error => { document.title = 'refused'; });
    </script>"""
    worker = Answer("fetch('/woken')", headers={"Content-Type": "text/javascript"})
    with (
        served({"/": page, "/worker.js": worker}) as site,
        trials.session(start_url=site.address) as session,
    ):
        session.page.wait_for_timeout(1000)
        assert session.page.evaluate("Boolean(navigator.serviceWorker.controller)") is False
        assert session.page.title() != "registered 1"
        assert "/woken" not in site.asked


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://0x7f.1/", "file:///etc/passwd"])
def test_a_start_page_that_is_not_allowed_is_a_mistake_of_the_suite(
    trials: Trials, url: str
) -> None:
    with (
        pytest.raises(ConfigError, match="start page is refused"),
        trials.session(start_url=url, allow_private_networks=False),
    ):
        pass


def test_addresses_and_schemes_that_an_agent_must_not_open_are_refused_with_the_reason(
    trials: Trials,
) -> None:
    trials.network = FakeInternet({"inside.example": "10.1.2.3"}, {})
    with trials.session(allow_private_networks=False) as session:
        for url, reason in (
            ("http://169.254.169.254/latest/", "metadata address"),
            ("http://inside.example/", "10.1.2.3 is a private address"),
            ("file:///etc/passwd", "scheme 'file'"),
            ("chrome://version/", "scheme 'chrome'"),
            ("data:text/html,x", "scheme 'data'"),
        ):
            with pytest.raises(ActionError, match=reason):
                visit(session, url)
        assert session.refusals[-1].host == "inside.example"


def test_a_redirect_to_a_refused_page_is_an_error(trials: Trials) -> None:
    with served({"/": Answer(status=302, headers={"Location": "http://10.9.8.7/"})}) as site:
        trials.network = FakeInternet({"shop.example": PUBLIC}, {PUBLIC: site.port})
        with (
            trials.session(allow_private_networks=False) as session,
            pytest.raises(ActionError, match=r"10\.9\.8\.7 is a private address"),
        ):
            visit(session, "http://shop.example/")


def test_a_link_to_a_refused_page_leads_to_a_page_that_says_so_and_a_note(trials: Trials) -> None:
    with served({"/": '<a href="http://10.9.8.7/">next</a>'}) as site:
        trials.network = FakeInternet({"shop.example": PUBLIC}, {PUBLIC: site.port})
        with trials.session(
            start_url="http://shop.example/", allow_private_networks=False
        ) as session:
            session.page.get_by_text("next").click()
            session.settle()
            assert "10.9.8.7 is refused" in session.page.content()
            assert "10.9.8.7 was refused: a private address" in session.take_notes()
