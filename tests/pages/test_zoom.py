"""The trails: into a window, back, together or apart, and cut to a shorter text."""

from types import SimpleNamespace

import pytest

from pages.compare import zoom
from pages.compare.state import CompareState, SideState

N = 1000
COARSE, FINE = ((100, 600), (0, 400)), ((200, 300), (100, 200))
ELSEWHERE = ((700, 800), (700, 800))


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A session's state, with two linked maps that show all."""
    found = SimpleNamespace(linked=True)
    monkeypatch.setattr(zoom, "st", SimpleNamespace(session_state=found))
    zoom.seed(CompareState((SideState("alibi", 0, 0), SideState("rope", 0, 0))))
    return found


def shown(count: int = 2) -> list[object]:
    return [trail[-1] if trail else None for trail in zoom.trails()[:count]]


def test_linked_maps_go_and_come_back_together(state: SimpleNamespace) -> None:
    zoom.into(0, COARSE, N)
    zoom.into(1, FINE, N)
    assert zoom.trails() == ((COARSE, FINE),) * 4  # a third map would look there too
    zoom.back(0, 1)
    assert shown() == [COARSE, COARSE]
    zoom.back(1, -1)  # nowhere to go back to from the whole map
    assert shown() == [None, None]


def test_parted_maps_go_alone_and_linked_again_follow_the_last_move(
    state: SimpleNamespace,
) -> None:
    state.linked = False
    zoom.into(0, COARSE, N)
    zoom.into(1, FINE, N)
    assert shown() == [COARSE, FINE]
    zoom.link()
    assert shown() == [COARSE, FINE]
    state.linked = True
    zoom.link()
    assert shown() == [FINE, FINE]


def test_a_trail_keeps_what_holds_the_window(state: SimpleNamespace) -> None:
    zoom.into(0, COARSE, N)
    zoom.into(0, COARSE, N)
    assert zoom.trails()[0] == (COARSE,)
    zoom.into(0, FINE, N)
    zoom.into(0, ELSEWHERE, N)
    assert zoom.trails()[0] == (ELSEWHERE,)
    zoom.into(0, zoom.whole(N), N)
    assert zoom.trails()[0] == ()


def test_seeded_from_windows_each_map_looks_at_its_own(state: SimpleNamespace) -> None:
    sides = (SideState("alibi", 0, 0, *COARSE), SideState("rope", 0, 0, *FINE))
    apart = CompareState(sides, linked=False)
    zoom.seed(apart)
    assert shown(4) == [COARSE, FINE, None, None]
    assert zoom.placed(CompareState((SideState("alibi", 0, 0), SideState("rope", 0, 0)))) == (
        CompareState(sides)
    )


def test_a_shorter_text_cuts_windows_and_says_it_once(state: SimpleNamespace) -> None:
    zoom.into(0, COARSE, N)
    zoom.into(0, FINE, N)
    assert zoom.fit([N, N]) == []
    (said,) = zoom.fit([250, 250])
    assert shown() == [((200, 250), (100, 200))] * 2
    assert zoom.trails()[0][0] == ((100, 250), (0, 250))
    assert "250 tokens" in said and "queries 200–249" in said
    (said,) = zoom.fit([150, 150])  # no query of the window is left: the one around it
    assert shown() == [((100, 150), (0, 150))] * 2
    (said,) = zoom.fit([90, 90])
    assert zoom.trails() == ((),) * 4
    assert "the whole map is shown" in said


def test_a_window_that_a_shorter_text_fills_is_the_whole_map(state: SimpleNamespace) -> None:
    zoom.into(0, ((0, 500), (0, 500)), N)
    zoom.fit([500, 500])
    assert zoom.trails()[0] == ()


@pytest.mark.parametrize(
    ("box", "words"),
    [
        (((0, 1001), (0, 10)), "from 0 to 999"),
        (((5, 5), (0, 10)), "from 0 to 999"),
        (((-3, 5), (0, 2)), "from 0 to 999"),
        (((0, 10), (10, 20)), "some key not after some query"),
    ],
)
def test_what_cannot_be_shown_gets_one_sentence(
    box: tuple[tuple[int, int], tuple[int, int]], words: str
) -> None:
    sentence = zoom.wrong(box, N)
    assert sentence and words in sentence
    assert zoom.wrong(((0, 10), (9, 20)), N) is None


def test_keys_after_queries_can_be_shown_where_a_model_sees_them() -> None:
    box = ((0, 10), (20, 30))
    assert zoom.wrong(box, N, causal=False) is None
    assert "some key not after some query" in (zoom.wrong(box, N) or "")


def test_each_map_is_cut_to_its_own_text(state: SimpleNamespace) -> None:
    zoom.into(0, COARSE, N)
    (said,) = zoom.fit([N, 250])
    assert shown() == [COARSE, ((100, 250), (0, 250))]
    assert "250 tokens" in said
