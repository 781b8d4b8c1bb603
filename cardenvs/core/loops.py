"""Loops over many tables, as templates: `Game.loops` binds them to the kernels of one game.

Functions without annotations are helpers, parts of the loops. The names `deal`, `legal_actions`, `step`, `hide`, `resample`,
`observe`, `scores`, `choose_easy` and `choose_strong` stand for the game's kernels. A loop over `lanes` touches those rows
alone, so that threads may share the arrays. `view` is working space of one record.
"""

from typing import Any

from cardenvs.core.jit import Floats, Grid8, Grid64, States, Vector8, Vector64, Words
from cardenvs.core.rng import below, next_word

# The game's kernels; a game's own stand in their place when the loops are bound.
deal: Any = None
legal_actions: Any = None
step: Any = None
hide: Any = None
resample: Any = None
observe: Any = None
scores: Any = None
choose_easy: Any = None
choose_strong: Any = None

EXTERNAL = -1
"""In place of a policy's number: the seat is played from outside."""

NEWS = 64

# Helpers.


def start_game(states, i, blank, deck):
    """Start the next game of lane `i`: its words come from the lane's (G-08)."""
    seeds = states[i].seeds[0]
    states[i] = blank[0]
    state = states[i]
    state.seeds[0] = seeds
    state.rng[3] = next_word(state.seeds, 0)
    for stream in range(4):
        state.rng[stream] = next_word(state.rng, 3)
    deal(state, deck)


def advance(state, action):
    """One decision, with all that follows by itself."""
    state.rewards[:] = 0.0
    state.steps += 1
    step(state, action)


def make_view(states, i, seat, view):
    """Make `view` what `seat` may know of lane `i`; a view that is viewed again stays as it is."""
    view[0] = states[i]
    shown = view[0]
    shown.rng[:] = 0
    shown.seeds[:] = 0
    shown.rewards[:] = 0.0
    shown.steps = 0
    shown.viewer = seat
    hide(shown)


def write_turn(states, i, view, observation, mask):
    """Write observation and mask of the seat to act in lane `i`; zeros where the game is over."""
    observation[:] = 0
    mask[:] = 0
    state = states[i]
    if not (state.terminated or state.truncated):
        make_view(states, i, state.seat, view)
        observe(view[0], observation)
        legal_actions(state, mask)


def choose(view, mask, policy, words):
    """The action of a compiled policy, by its place in `POLICIES`."""
    if policy == 1:
        return choose_easy(view, mask, words)
    if policy == 2:
        return choose_strong(view, mask, words)
    return choose_random(mask, words)


def choose_random(mask, words):
    """One of the legal actions, all equally likely."""
    left = below(words, 0, mask.sum())
    for action in range(len(mask)):
        left -= mask[action]
        if left < 0:
            return action
    return -1


def draw_world(view, words, records, i):
    """Make record `i` a full state, drawn among those that are consistent with the view; its future chance is drawn too."""
    records[i] = view[0]
    world = records[i]
    resample(world, words)
    for stream in range(4):
        world.rng[stream] = next_word(words, 0)
    world.seeds[0] = next_word(words, 0)
    world.viewer = -1


# Loops.


def start_lanes(states: States, lanes: Vector64, blank: States, deck: Vector64):
    """Start the next game in each of `lanes`; `blank` holds the options."""
    for i in lanes:
        start_game(states, i, blank, deck)


def write_turns(states: States, lanes: Vector64, view: States, observation: Grid8, mask: Grid8, seats: Vector64):
    """Write what the seats to act see and may do."""
    for i in lanes:
        write_turn(states, i, view, observation[i], mask[i])
        seats[i] = states[i].seat


def find_illegal(lanes: Vector64, actions: Vector64, mask: Grid8) -> int:
    """The first of `lanes` whose action does not exist or is masked, or -1."""
    for i in lanes:
        if not 0 <= actions[i] < mask.shape[1] or not mask[i, actions[i]]:
            return i
    return -1


def step_lanes(
    states: States,
    lanes: Vector64,
    actions: Vector64,
    blank: States,
    restart: int,
    view: States,
    observation: Grid8,
    mask: Grid8,
    seats: Vector64,
    rewards: Floats,
    terminated: Vector8,
    truncated: Vector8,
    final_scores: Grid64,
):
    """One legal decision in each of `lanes`, and what the next seat to act sees.

    With `restart`, a game that ends is followed by the next of its lane.
    """
    no_deck = actions[:0]
    for i in lanes:
        state = states[i]
        advance(state, actions[i])
        for seat in range(state.num_seats):
            rewards[i, seat] = state.rewards[seat]
        terminated[i] = state.terminated
        truncated[i] = state.truncated
        final_scores[i] = 0
        if state.terminated or state.truncated:
            scores(state, final_scores[i])
            if restart:
                start_game(states, i, blank, no_deck)
        write_turn(states, i, view, observation[i], mask[i])
        seats[i] = state.seat


def choose_turns(states: States, lanes: Vector64, policy: int, words: Words, view: States, mask: Grid8, actions: Vector64):
    """What a compiled policy would choose in each of `lanes`, with the generators `words[i]`; masks are those of the turns."""
    for i in lanes:
        make_view(states, i, states[i].seat, view)
        actions[i] = choose(view[0], mask[i], policy, words[i : i + 1])


def choose_lanes(lanes: Vector64, mask: Grid8, words: Words, actions: Vector64):
    """A random legal action for each of `lanes`, with the generators `words[i]`."""
    for i in lanes:
        actions[i] = choose_random(mask[i], words[i : i + 1])


def step_one(states: States, action: int, view: States, observation: Vector8, mask: Vector8) -> int:
    """One legal decision of a single table, and what the next seat to act sees.

    Returns that seat, plus NEWS if somebody was paid or the game is over.
    """
    state = states[0]
    advance(state, action)
    write_turn(states, 0, view, observation, mask)
    news = state.terminated or state.truncated
    for seat in range(state.num_seats):
        news = news or state.rewards[seat] != 0.0
    return state.seat + (NEWS if news else 0)


def play_lanes(
    states: States, lanes: Vector64, policies: Grid8, words: Words, forced: int, view: States, mask: Vector8, rewards: Floats
) -> int:
    """Play each of `lanes` on until it is over or its seat to act is EXTERNAL; returns the decisions played.

    `policies[i, seat]` are numbers of policies and `words[i]` their generator; `rewards[i]` grows by what the seats earn.
    With `forced`, an EXTERNAL seat's single legal action is played as well.
    """
    played = 0
    for i in lanes:
        state = states[i]
        while not (state.terminated or state.truncated):
            policy = policies[i, state.seat]
            mask[:] = 0
            legal_actions(state, mask)
            if policy == EXTERNAL and not (forced and mask.sum() == 1):
                break
            if policy > 0:
                make_view(states, i, state.seat, view)
            advance(state, choose(view[0], mask, policy, words[i : i + 1]))
            for seat in range(state.num_seats):
                rewards[i, seat] += state.rewards[seat]
            played += 1
    return played


def view_one(states: States, seat: int, view: States):
    """The view of `seat`."""
    make_view(states, 0, seat, view)


def observe_one(states: States, seat: int, view: States, observation: Vector8, mask: Vector8):
    """View, observation and mask of `seat`; the mask is zero unless it is to act."""
    observation[:] = 0
    mask[:] = 0
    make_view(states, 0, seat, view)
    observe(view[0], observation)
    state = states[0]
    if seat == state.seat and not (state.terminated or state.truncated):
        legal_actions(state, mask)


def legal_one(states: States, mask: Vector8):
    """The legal actions of the seat to act."""
    mask[:] = 0
    legal_actions(states[0], mask)


def choose_one(view: States, mask: Vector8, policy: int, words: Words) -> int:
    """The action of a compiled policy for the owner of the view."""
    return choose(view[0], mask, policy, words)


def resample_one(view: States, words: Words, out: States):
    """A full state drawn among those that are consistent with the view, as by `draw_world`."""
    draw_world(view, words, out, 0)


def scores_one(states: States, out: Vector64):
    """The printed scores now (G-13)."""
    scores(states[0], out)


def scores_lanes(states: States, lanes: Vector64, out: Grid64):
    """The printed scores of each of `lanes` now (G-13); absent seats get 0."""
    for i in lanes:
        out[i] = 0
        scores(states[i], out[i])
