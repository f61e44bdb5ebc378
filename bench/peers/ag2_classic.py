"""AG2 classic: group chats whose speaker is chosen by a function. Nothing is stored."""

from typing import Any

from autogen import Agent, ConversableAgent, GroupChat, GroupChatManager
from workload import ROUNDS, TURNS, Clock, decide, read_decision, read_next, report, speak


def make_agent(name: str, say: Any) -> ConversableAgent:
    agent = ConversableAgent(name, llm_config=False, human_input_mode="NEVER", code_execution_config=False)

    def reply(_agent: Agent, messages: Any = None, sender: Any = None, config: Any = None) -> tuple[bool, str]:
        return True, say()

    agent.register_reply([Agent, None], reply, position=0)
    return agent


def play(agents: list[ConversableAgent], first: str, choose: Any, rounds: int) -> None:
    by_name = {agent.name: agent for agent in agents}

    def select(_last: Agent, chat: GroupChat) -> Agent:
        last = chat.messages[-1]
        return by_name[choose(last["name"], last["content"])]

    chat = GroupChat(agents=agents, messages=[], max_round=rounds, speaker_selection_method=select)
    manager = GroupChatManager(groupchat=chat, llm_config=False, human_input_mode="NEVER", silent=True)
    by_name[first].initiate_chat(manager, message="[NEXT: bob] go", silent=True, clear_history=True)


def turn() -> float:
    clock = Clock(TURNS)

    def say(member: str) -> str:
        clock.tick()
        return speak(member)

    agents = [make_agent("alice", str), *(make_agent(name, lambda name=name: say(name)) for name in ("bob", "carol"))]
    play(agents, "alice", lambda _name, text: read_next(text), TURNS)
    return clock.seconds()


def round_() -> float:
    clock = Clock(ROUNDS)
    agents = [
        make_agent("lead", lambda: decide(clock.tick())),
        make_agent("writer", lambda: "Written."),
        make_agent("noter", lambda: "Noted."),
    ]
    play(agents, "noter", lambda name, text: read_decision(text) if name == "lead" else "lead", 2 * ROUNDS)
    return clock.seconds()


report("ag2", {"turn": turn, "round": round_})
