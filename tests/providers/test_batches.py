"""Batches against a server of ours; the makers' own clients talk to it, too, and agree with us."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest
from poor_bench.models.failure import FailureKind
from poor_bench.ports import BatchApi, BatchState, OffersBatches
from poor_bench.providers.chat_wire import read_text
from tests.providers.asking import CONTROL, make_provider, make_request
from tests.providers.servers.batch_format import BatchServer
from tests.providers.servers.fake_server import FakeServer, serving

if TYPE_CHECKING:  # each takes a second to import, which runs of other tests need not wait for
    import anthropic
    import openai

PROVIDERS = ("openai", "anthropic")
SLOW = pytest.mark.slow(reason="imports the clients of other firms")


@pytest.fixture
def batches() -> BatchServer:
    return BatchServer()


@pytest.fixture
def server(batches: BatchServer) -> Iterator[FakeServer]:
    with serving(batches) as server:
        yield server


def open_api(provider: str, server: FakeServer) -> BatchApi:
    made = make_provider(provider, server.url)
    assert isinstance(made, OffersBatches)
    return made.open_batches()


def submit(api: BatchApi, key: str = "k1", *requests: ChatRequest) -> str:
    asked = requests or (make_request("1+1?"), make_request("2+2?", "Be brief."))
    lines = (api.line(f"{key}-{number}", each) for number, each in enumerate(asked))
    return api.submit(key, lines, CONTROL)


def fetch(api: BatchApi, batch_id: str) -> dict[str, dict[str, Any]]:
    progress = api.look(batch_id, CONTROL)
    lines = [json.loads(line) for path in progress.files for line in api.fetch(path, CONTROL)]
    return {read_text(line, "custom_id"): line for line in lines}


@SLOW
def test_openais_client_submits_the_same_requests(
    batches: BatchServer, server: FakeServer, openai_client: openai.OpenAI
) -> None:
    api = open_api("openai", server)
    submit(api)
    ours = batches.batches[0]
    content = batches.files[ours.input_file_id]
    file = openai_client.files.create(file=("theirs.jsonl", content), purpose="batch")
    made = openai_client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"mine": "yes"},
    )
    theirs = batches.batches[1]
    assert (made.id, theirs.requests) == ("batch_2", ours.requests)
    sent = [request.body for request in server.asked("/v1/batches") if request.method == "POST"]
    assert [body.keys() for body in sent[:1]] == [body.keys() for body in sent[1:]]


@SLOW
def test_openais_client_reads_the_same_answers(
    batches: BatchServer, server: FakeServer, openai_client: openai.OpenAI
) -> None:
    api = open_api("openai", server)
    batch_id = submit(api)
    assert openai_client.batches.retrieve(batch_id).status == "in_progress"
    assert api.look(batch_id, CONTROL).state is BatchState.RUNNING
    batches.batches[0].outcomes["k1-0"] = "expired"
    batches.finish()
    theirs = openai_client.batches.retrieve(batch_id)
    assert theirs.request_counts is not None
    assert theirs.output_file_id is not None
    progress = api.look(batch_id, CONTROL)
    assert progress.n_items == theirs.request_counts.total
    assert progress.n_done == theirs.request_counts.completed + theirs.request_counts.failed
    row = json.loads(openai_client.files.content(theirs.output_file_id).text)
    assert fetch(api, batch_id)["k1-1"] == row
    from openai.types.chat import ChatCompletion

    answer = ChatCompletion.model_validate(row["response"]["body"])
    ours = api.read(row, make_request())
    assert ours.text == answer.choices[0].message.content
    assert answer.usage is not None
    assert ours.usage.prompt_tokens == answer.usage.prompt_tokens


@SLOW
def test_openais_client_lists_and_cancels_alike(
    batches: BatchServer, server: FakeServer, openai_client: openai.OpenAI
) -> None:
    api = open_api("openai", server)
    ids = [submit(api, f"k{number}") for number in range(3)]
    listed = list(openai_client.batches.list(limit=2))  # walks the pages
    assert [batch.id for batch in listed] == ids[::-1]
    assert listed[0].metadata == {"poor_bench_batch": "k2"}
    api.cancel(ids[0], CONTROL)
    assert openai_client.batches.retrieve(ids[0]).status == "cancelling"


@SLOW
def test_anthropics_client_submits_and_reads_alike(
    batches: BatchServer, server: FakeServer, anthropic_client: anthropic.Anthropic
) -> None:
    api = open_api("anthropic", server)
    batch_id = submit(api)
    requests: Any = batches.batches[0].requests
    anthropic_client.messages.batches.create(requests=requests)
    assert batches.batches[1].requests == requests
    made, own = (r for r in server.asked("/v1/messages/batches") if r.method == "POST")
    assert made.body == own.body
    batches.batches[0].outcomes["k1-0"] = "expired"
    batches.finish()
    theirs = anthropic_client.messages.batches.retrieve(batch_id)
    assert theirs.processing_status == "ended"
    assert api.look(batch_id, CONTROL).n_done == theirs.request_counts.succeeded + 1
    rows = {row.custom_id: row.result for row in read_results(anthropic_client, server, batch_id)}
    ours = fetch(api, batch_id)
    assert rows["k1-0"].type == ours["k1-0"]["result"]["type"] == "expired"
    message = rows["k1-1"].message
    completion = api.read(ours["k1-1"], make_request())
    assert completion.text == message.content[0].text
    assert completion.usage.completion_tokens == message.usage.output_tokens
    assert completion.usage.cached_tokens == message.usage.cache_read_input_tokens
    assert completion.usage.cache_write_tokens == message.usage.cache_creation_input_tokens


def read_results(client: anthropic.Anthropic, server: FakeServer, batch_id: str) -> list[Any]:
    """Read results as the client does, from our server: the URL in a reply names the real one."""
    from anthropic.types.messages import MessageBatchIndividualResponse as Row

    path = f"/v1/messages/batches/{batch_id}/results"
    content = client.get(path, cast_to=bytes, options={"headers": {"accept": "application/binary"}})
    return [Row.model_validate_json(line) for line in content.splitlines()]


@SLOW
def test_anthropics_client_lists_and_cancels_alike(
    server: FakeServer, anthropic_client: anthropic.Anthropic
) -> None:
    api = open_api("anthropic", server)
    ids = [submit(api, f"k{number}") for number in range(3)]
    assert [batch.id for batch in anthropic_client.messages.batches.list(limit=2)] == ids[::-1]
    api.cancel(ids[0], CONTROL)
    theirs = anthropic_client.messages.batches.retrieve(ids[0])
    assert theirs.processing_status == "canceling"
    assert api.look(ids[0], CONTROL).state is BatchState.CANCELLING


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_submission_is_found_among_others(
    batches: BatchServer, server: FakeServer, provider: str
) -> None:
    api = open_api(provider, server)
    after = submit(api, "older")
    for number in range(120):  # more than a page
        submit(api, f"other{number}")
    ours = submit(api, "ours")
    batches.finish()
    assert api.find("ours", 2, after, (), CONTROL).batch_id == ours
    found = api.find("never", 2, after, (), CONTROL)
    assert (found.batch_id, found.unclear) == ("", ())


def test_anthropics_running_batches_do_not_tell_whose_they_are(
    batches: BatchServer, server: FakeServer
) -> None:
    api = open_api("anthropic", server)
    after = submit(api, "older")
    known = submit(api, "known")
    ours = submit(api, "ours")
    submit(api, "larger", *[make_request()] * 3)
    assert api.find("ours", 2, after, (known,), CONTROL).unclear == (ours,)
    batches.finish()
    assert api.find("ours", 2, after, (known,), CONTROL).batch_id == ours


@pytest.mark.parametrize("provider", PROVIDERS)
def test_requests_are_not_streamed_and_limits_have_a_name_that_all_models_take(
    server: FakeServer, provider: str
) -> None:
    line = json.loads(open_api(provider, server).line("k-0", make_request(max_tokens=9)))
    if provider == "openai":
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert line["body"]["max_completion_tokens"] == 9
        assert "stream" not in line["body"]
    else:
        assert line["params"]["max_tokens"] == 9
        assert line["params"]["stream"] is False


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("batch_id", ["", "../../models", "a b", None, 7])
def test_an_id_that_is_not_one_never_gets_into_a_path(
    batches: BatchServer, server: FakeServer, provider: str, batch_id: object
) -> None:
    from tests.providers.servers.fake_server import json_answer

    batches.before = lambda _request: json_answer({"id": batch_id})
    with pytest.raises(ProviderError) as caught:
        submit(open_api(provider, server))
    assert caught.value.kind is FailureKind.MALFORMED_REPLY


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("line", [{}, {"response": None}, {"result": {"type": 7}}, {"error": 1}])
def test_lines_of_another_form_are_failures(
    server: FakeServer, provider: str, line: dict[str, Any]
) -> None:
    with pytest.raises(ProviderError):
        open_api(provider, server).read(line, make_request())


def test_only_the_stable_start_of_an_anthropic_prompt_is_cached(server: FakeServer) -> None:
    from dataclasses import replace

    api = open_api("anthropic", server)
    request = make_request("Translate: cat", "Be brief.", prompt_cache=True)
    system, user = request.messages
    cut = replace(request, messages=(system, replace(user, n_stable=len("Translate: "))))
    params = json.loads(api.line("k-0", cut))["params"]
    kept = {"type": "ephemeral"}
    assert params["system"] == [{"type": "text", "text": "Be brief.", "cache_control": kept}]
    assert params["messages"][0]["content"] == [
        {"type": "text", "text": "Translate: ", "cache_control": kept},
        {"type": "text", "text": "cat"},
    ]
    plain = json.loads(api.line("k-0", make_request("Translate: cat", "Be brief.")))["params"]
    assert plain["system"] == "Be brief."
    assert plain["messages"][0]["content"] == "Translate: cat"
