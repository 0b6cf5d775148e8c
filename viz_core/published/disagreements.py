"""Where published figures contradict each other or what is said of them, with the rows quoted."""

from __future__ import annotations

from dataclasses import dataclass

from viz_core.words import mark


@dataclass(frozen=True)
class Quote:
    """One row of the table: as many of its columns as find it."""

    source: str
    table: str
    encoding: str
    scaling: str
    length: int
    perplexity: float
    bound: str = ""


@dataclass(frozen=True)
class Disagreement:
    """Where published figures contradict each other or what is said of them, and why.

    `text` quotes no perplexity but those of the rows in `quotes`.
    """

    id: str
    title: str
    text: str
    quotes: tuple[Quote, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the sources that are quoted, each once, in order."""
        return tuple(dict.fromkeys(q.source for q in self.quotes))


def _q(
    source: str, number: int, curve: str, values: dict[int, float], bound: str = ""
) -> list[Quote]:
    table = f"Table {number}" if number else "perplexity table"
    encoding, _, scaling = curve.partition(" ")
    return [
        Quote(source, table, encoding, scaling or "none", n, v, bound) for n, v in values.items()
    ]


DISAGREEMENTS: tuple[Disagreement, ...] = (
    Disagreement(
        "untuned-interpolation",
        mark("PI without fine-tuning"),
        mark(
            "Article A has PI rise from 18.3 at 512 tokens to only 20.8 at 4,096 and mentions no "
            "fine-tuning. In PI's own Table 3, before any fine-tuning, LLaMA 7B has 16.10 at 8,192 "
            "tokens and 112.13 at 16,384; unscaled it has 7.20 at its trained 2,048. LongRoPE's "
            "Table 3 has PI at 72.54 for 65,536 tokens. Curves as flat as the article's come from "
            "fine-tuned models: 7.13 at 2,048 and 6.95 at 8,192. A fixed factor also costs quality "
            "at short lengths, so the article's 18.3 at 512, the same as without PI, needs a "
            "factor that follows the length."
        ),
        (
            *_q("article-a", 0, "rope linear", {512: 18.3, 4096: 20.8}),
            *_q("article-a", 0, "rope", {512: 18.3}),
            *_q("chen-2023", 3, "rope linear:4", {8192: 16.10}),
            *_q("chen-2023", 3, "rope linear:8", {16384: 112.13}),
            *_q("chen-2023", 1, "rope", {2048: 7.20}),
            *_q("chen-2023", 1, "rope linear:4", {2048: 7.13, 8192: 6.95}),
            *_q("ding-2024", 3, "rope linear", {65536: 72.54}),
        ),
    ),
    Disagreement(
        "t5-or-rope",
        mark("T5's bias against plain RoPE"),
        mark(
            "Article A says that T5's bias extrapolates worse than RoPE. Its own table says the "
            "opposite at every length past the trained one: 20.2, 28.5 and 65.3 for T5 at 1,024, "
            "2,048 and 4,096 tokens; 22.7, 45.2 and 182.6 for RoPE. So does Table 2 of the ALiBi "
            "paper: 18.79 against 21.37 at 1,012 tokens, 25.91 against 39.15 at 4,512. T5 improves "
            "there at first, from 19.65 at the trained 512, but in non-overlapping chunks; with a "
            "sliding window it rises at once, from 17.92 to 18.51 at 1,024."
        ),
        (
            *_q("article-a", 0, "t5", {1024: 20.2, 2048: 28.5, 4096: 65.3}),
            *_q("article-a", 0, "rope", {1024: 22.7, 2048: 45.2, 4096: 182.6}),
            *_q("press-2022", 2, "t5", {512: 19.65, 1012: 18.79, 4512: 25.91}),
            *_q("press-2022", 2, "rope", {1012: 21.37, 4512: 39.15}),
            *_q("press-2022", 14, "t5", {512: 17.92, 1024: 18.51}),
        ),
    ),
    Disagreement(
        "alibi-rises",
        mark("ALiBi at twice its trained length"),
        mark(
            "Article B has ALiBi rise from 12.3 at 1,024 tokens to 13.1 at 2,048 (+6.5 %). In the "
            "ALiBi paper it falls, from 18.66 at 1,024 to 18.05 at 2,024. Those are "
            "non-overlapping chunks: the longer they are, the fewer tokens have little context, so "
            "perplexity falls even if the model looks no further back. With a sliding window the "
            "paper's ALiBi stays about level: 17.98 at its trained 512, 18.3 at 3,072. The article "
            "states no protocol, so its rise can't be compared with either."
        ),
        (
            *_q("article-b", 0, "alibi", {1024: 12.3, 2048: 13.1}),
            *_q("press-2022", 3, "alibi", {1024: 18.66, 2024: 18.05}),
            *_q("press-2022", 15, "alibi", {512: 17.98, 3072: 18.3}),
        ),
    ),
    Disagreement(
        "alibi-fails",
        mark("Whether ALiBi fails at all"),
        mark(
            "For Kazemnejad et al. ALiBi fails past its trained length: 2.735 at 1,024 tokens, "
            "42.951 at 2,048, 150.32 at 2,560. In the ALiBi paper a model of that size, trained at "
            "512, has 9.79 there, 9.30 at 1,024 and 9.54 at 2,048, and a smaller one trained at "
            "1,024 still has 17.98 at 16,024. The first counts the same last tokens of each "
            "document at every length, the last all tokens of non-overlapping chunks. Texts and "
            "models differ too, and the tables can't tell which of these decides."
        ),
        (
            *_q("kazemnejad-2023", 3, "alibi", {1024: 2.735, 2048: 42.951, 2560: 150.32}),
            *_q("press-2022", 12, "alibi", {512: 9.79, 1024: 9.30, 2048: 9.54}),
            *_q("press-2022", 3, "alibi", {16024: 17.98}),
        ),
    ),
    Disagreement(
        "rope-4096",
        mark("A number that its code can't give"),
        mark(
            "Article A has plain RoPE at 45.2 for 2,048 tokens and 182.6 for 4,096. The code that "
            "it prints has angles for 2,048 positions and stops with an error at 4,096, so the "
            "last number must come from other code."
        ),
        (*_q("article-a", 0, "rope", {2048: 45.2, 4096: 182.6}),),
    ),
    Disagreement(
        "protocol",
        mark("One number per length, no protocol"),
        mark(
            "Neither article says how it counted: which tokens, after how much context. The ALiBi "
            "paper shows how much that decides. Its sinusoidal model trained at 512 tokens has "
            "43.54 at 1,012 in non-overlapping chunks, about half of whose tokens lie within the "
            "trained length, but 204.42 at 1,024 with a sliding window that counts each last token "
            "only. Its ALiBi model improves from 19.73 at 512 to 18.40 at 3,072 in chunks, and "
            "with the window goes from 17.98 to 18.3."
        ),
        (
            *_q("press-2022", 2, "sinusoidal", {1012: 43.54}),
            *_q("press-2022", 13, "sinusoidal", {1024: 204.42}),
            *_q("press-2022", 5, "alibi", {512: 19.73, 3072: 18.40}),
            *_q("press-2022", 15, "alibi", {512: 17.98, 3072: 18.3}),
        ),
    ),
    Disagreement(
        "rope-growth",
        mark("How fast plain RoPE fails"),
        mark(
            "At twice the trained length, plain RoPE has gone from 18.3 to 22.7 in article A "
            "(+24.0 %) and from 11.8 to 15.7 in article B (+33.1 %), from 20.07 to 21.37 in the "
            "ALiBi paper (at 1,012 tokens, in non-overlapping chunks), from 2.607 to 676.882 for "
            "Kazemnejad et al., and from 7.20 to above 1,000 for LLaMA 7B. The growth depends on "
            "the model, the text and the protocol: no curve is that of RoPE as such."
        ),
        (
            *_q("article-a", 0, "rope", {512: 18.3, 1024: 22.7}),
            *_q("article-b", 0, "rope", {1024: 11.8, 2048: 15.7}),
            *_q("press-2022", 2, "rope", {512: 20.07, 1012: 21.37}),
            *_q("kazemnejad-2023", 3, "rope", {1024: 2.607, 2048: 676.882}),
            *_q("chen-2023", 1, "rope", {2048: 7.20}),
            *_q("chen-2023", 1, "rope", {4096: 1000.0}, ">"),
        ),
    ),
    Disagreement(
        "alibi-trained-length",
        mark("ALiBi at its trained length"),
        mark(
            "Article A has ALiBi slightly behind RoPE at the trained length, 18.6 against 18.3, "
            "and blames its lack of explicit positions. In the ALiBi paper it is ahead of rotary, "
            "19.73 against 20.07, and for Haviv et al. (125M) ahead of sinusoidal, 19.94 against "
            "21.49. With 1.3B the two come closer: 9.79 against 9.71 in the ALiBi paper, 12.51 "
            "against 12.93 for Haviv et al. The order depends on size and text."
        ),
        (
            *_q("article-a", 0, "alibi", {512: 18.6}),
            *_q("article-a", 0, "rope", {512: 18.3}),
            *_q("press-2022", 2, "alibi", {512: 19.73}),
            *_q("press-2022", 2, "rope", {512: 20.07}),
            *_q("press-2022", 12, "alibi", {512: 9.79}),
            *_q("press-2022", 12, "sinusoidal", {512: 9.71}),
            *_q("haviv-2022", 2, "alibi", {1024: 19.94}),
            *_q("haviv-2022", 2, "sinusoidal", {1024: 21.49}),
            *_q("haviv-2022", 1, "alibi", {1024: 12.51}),
            *_q("haviv-2022", 1, "sinusoidal", {1024: 12.93}),
        ),
    ),
    Disagreement(
        "untuned-order",
        mark("Which scaling is best without fine-tuning"),
        mark(
            "Article A ranks NTK before PI, 20.1 against 20.8 at 4,096 tokens. LongRoPE's Table 1 "
            "shows that such an order depends on the text: at 16,384 tokens Llama 2 7B has on PG19 "
            "20.49 with PI, 23.29 with dynamic NTK and 87.89 with YaRN; on Proof-pile 4.93, 3.87 "
            "and 3.25, the reverse."
        ),
        (
            *_q("article-a", 0, "rope ntk", {4096: 20.1}),
            *_q("article-a", 0, "rope linear", {4096: 20.8}),
            *(q for v in (20.49, 4.93) for q in _q("ding-2024", 1, "rope linear", {16384: v})),
            *(q for v in (23.29, 3.87) for q in _q("ding-2024", 1, "rope dynamic", {16384: v})),
            *(q for v in (87.89, 3.25) for q in _q("ding-2024", 1, "rope yarn", {16384: v})),
        ),
    ),
)
