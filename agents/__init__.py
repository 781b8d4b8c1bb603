"""Those who decide: scripted players, networks, people. They know games through `cardenvs` only, and never one game in particular."""

from agents.agent import Agent, BatchAgent, CompiledAgent, MissingExtra, UnknownAgent, make

__all__ = ["Agent", "BatchAgent", "CompiledAgent", "MissingExtra", "UnknownAgent", "make"]
