"""Scripted players of ReCURRRing."""

from cardenvs.core import jit


@jit.kernel
def choose_easy(view, mask, words):
    for a in range(len(mask) - 1, -1, -1):
        if mask[a]:
            return a
    return 0


@jit.kernel
def choose_strong(view, mask, words):
    return choose_easy(view, mask, words)
