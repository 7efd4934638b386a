from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from poor_bench.errors import ProviderError
from poor_bench.judge.conversation import Conversation, ConversationDriver, conversation_from_dict
from poor_bench.models.agent import Agent, AgentCase, SimulatedUser
from poor_bench.models.completion import Completion, Message, Timing, Usage
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Prices

SELLER = LLM(
    id="seller",
    provider="scripted",
    name="seller",
    base_system_prompt="Be brief.",
    prices=Prices(input=1.0, output=2.0),
)
BUYER = LLM(id="buyer", provider="scripted", name="buyer", prices=Prices(input=0.0, output=0.0))
USER = SimulatedUser(persona="In a hurry.", llm_id="buyer", max_turns=3)
CASE = AgentCase(id="hello", turns=("Hi",))
AGENT = Agent(id="a", name="A", system_prompt="You sell.", llm_id="seller", cases=(CASE,))


class Asked:
    """Answers from lists, and keeps what was asked."""

    def __init__(self, **replies: list[str]) -> None:
        self.replies = replies
        self.requests: list[tuple[str, tuple[Message, ...]]] = []

    def __call__(self, llm: LLM, messages: tuple[Message, ...]) -> Completion:
        self.requests.append((llm.id, messages))
        if not self.replies[llm.id]:
            raise ProviderError("no connection", kind=FailureKind.CONNECTION)
        usage = Usage(prompt_tokens=1000, completion_tokens=10)
        timing = Timing(total_ms=30.0, load_ms=10.0)
        return Completion(text=self.replies[llm.id].pop(0), usage=usage, timing=timing)


def hold(case: AgentCase, ask: Callable[..., Completion]) -> Conversation:
    driver = ConversationDriver(
        AGENT, {"seller": SELLER, "buyer": BUYER}, ask, lambda: "2026-11-22T00:00:00Z"
    )
    return driver.hold(case)


def said(conversation: Conversation) -> list[str]:
    return [f"{turn.speaker}: {turn.text}" for turn in conversation.turns]


def test_written_turns_are_said_one_after_the_other() -> None:
    ask = Asked(seller=["Hello", "<think>hm</think>10 euros"])
    conversation = hold(replace(CASE, turns=("Hi", "How much?")), ask)
    assert said(conversation) == ["user: Hi", "agent: Hello", "user: How much?", "agent: 10 euros"]
    assert ask.requests[1][1] == (
        Message("system", "Be brief.\n\nYou sell."),
        Message("user", "Hi"),
        Message("assistant", "Hello"),
        Message("user", "How much?"),
    )


def test_time_tokens_and_money_are_summed() -> None:
    conversation = hold(replace(CASE, turns=("Hi", "Bye")), Asked(seller=["Hello", "Bye"]))
    assert (conversation.prompt_tokens, conversation.completion_tokens) == (2000, 20)
    assert conversation.cost_usd == 2 * (1000 * 1.0 + 10 * 2.0) / 1_000_000
    assert conversation.time_ms == 40.0


def test_simulated_user_goes_on_until_it_says_the_stop_phrase() -> None:
    ask = Asked(seller=["Hello", "Red or blue?"], buyer=["A bike, please", "Neither. [DONE]"])
    conversation = hold(replace(CASE, simulated_user=USER), ask)
    assert said(conversation) == [
        "user: Hi",
        "agent: Hello",
        "user: A bike, please",
        "agent: Red or blue?",
        "user: Neither.",
    ]


def test_simulated_user_sees_the_conversation_from_its_own_side() -> None:
    ask = Asked(seller=["Hello"], buyer=["[DONE]"])
    assert said(hold(replace(CASE, simulated_user=USER), ask)) == ["user: Hi", "agent: Hello"]
    llm_id, (system, *rest) = ask.requests[1]
    assert llm_id == "buyer"
    assert "In a hurry." in system.content
    assert "[DONE]" in system.content
    assert rest == [Message("assistant", "Hi"), Message("user", "Hello")]


def test_simulated_user_has_its_number_of_turns_and_no_more() -> None:
    ask = Asked(seller=["1", "2", "3", "4"], buyer=["a", "b", "c"])
    conversation = hold(replace(CASE, simulated_user=USER), ask)
    assert said(conversation)[-2:] == ["user: b", "agent: 3"]


def test_silent_user_ends_the_conversation() -> None:
    ask = Asked(seller=["Hello", "never asked"], buyer=["<think>nothing to say</think>"])
    assert len(hold(replace(CASE, simulated_user=USER), ask).turns) == 2


def test_llm_that_cannot_be_asked_leaves_what_was_said_and_why() -> None:
    conversation = hold(replace(CASE, turns=("Hi", "Bye"), contains=("x",)), Asked(seller=["Yo"]))
    assert said(conversation) == ["user: Hi", "agent: Yo", "user: Bye"]
    assert conversation.failure is not None
    assert conversation.failure.kind is FailureKind.CONNECTION
    assert conversation.passed is None


def test_rules_decide_what_passed_and_cases_without_rules_are_open() -> None:
    case = replace(CASE, contains=("Ticket",), contains_not=("refund",))
    assert hold(case, Asked(seller=["your TICKET"])).passed is True
    broken = hold(case, Asked(seller=["a refund"]))
    assert broken.passed is False
    assert broken.broken_rules == ("'Ticket' is missing", "'refund' is forbidden")
    assert hold(CASE, Asked(seller=["anything"])).passed is None


def test_what_the_user_says_keeps_no_rule() -> None:
    assert hold(replace(CASE, contains=("Hi",)), Asked(seller=["Yo"])).passed is False


def test_conversation_is_read_as_it_was_written() -> None:
    for replies in (["Hello"], []):
        conversation = hold(replace(CASE, contains=("x",)), Asked(seller=replies))
        assert conversation_from_dict(conversation.as_dict()) == conversation


def test_hash_is_of_what_was_said_alone() -> None:
    one, same, other = (hold(CASE, Asked(seller=[text])) for text in ("Yo", "Yo", "Ho"))
    assert one.hash == replace(same, timestamp="later", time_ms=9.0).hash
    assert one.hash != other.hash


def test_judge_sees_the_whole_conversation() -> None:
    asked = replace(CASE, expected_behavior="Greets", group="greetings")
    conversation = hold(asked, Asked(seller=["Yo"]))
    assert conversation.group == "greetings"
    case = conversation.as_case()
    assert (case.name, case.turns, case.expected_behavior) == (
        "hello",
        conversation.turns,
        "Greets",
    )
