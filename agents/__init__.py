"""Those who decide: scripted players, networks, people. They know games through `cardenvs` only, and never one game in particular."""

if __name__ != "cardenvs.agents":  # in the folder of a checkout, Python also finds it under its short name
    raise ImportError("import cardenvs.agents, not agents")

from cardenvs.agents.agent import Agent, BatchAgent, CompiledAgent, MissingExtra, UnknownAgent, make

__all__ = ["Agent", "BatchAgent", "CompiledAgent", "MissingExtra", "UnknownAgent", "make"]
