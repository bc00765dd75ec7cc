"""Sizes of the checkpoints of transformers, as DLIO and MLPerf Storage write them.

Layers are those of Llama: attention with grouped queries and a gated MLP, between an embedding and a head of its size.
The state of the optimiser is Adam's: a copy of the parameters and two moments. What is sharded at which stage: ZeRO,
Rajbhandari et al., SC 2020.
"""

from dataclasses import dataclass

BITS = {"fp8": 8, "int8": 8, "uint8": 8, "fp16": 16, "bf16": 16, "fp32": 32, "fp64": 64}
# Tensors of the optimiser: parameters and both moments, each with a small one of this many rows beside it.
TENSORS, ROWS = 3, 5


@dataclass(frozen=True)
class Transformer:
    """A transformer whose training is spread over accelerators, and its numbers of bytes a parameter."""

    layers: int
    hidden: int
    feed_forward: int
    vocabulary: int
    heads: int
    kv_heads: int
    tensor: int
    pipeline: int
    zero_stage: int
    model_bytes: float
    optimizer_bytes: float

    @property
    def parameters(self) -> int:
        """All parameters of the model."""
        keys = self.hidden // self.heads * self.kv_heads
        attention = self.hidden * (self.hidden + 2 * keys) + self.hidden * self.hidden
        layer = attention + 3 * self.feed_forward * self.hidden + 2 * self.hidden
        return 2 * self.vocabulary * self.hidden + self.layers * layer + self.hidden

    @property
    def model_parallel(self) -> int:
        """Accelerators that hold one copy of the model."""
        return self.tensor * self.pipeline

    def written(self, data_parallel: int) -> tuple[int, int, int | None]:
        """Return the bytes that each writer of the model writes on average, those of its own that each accelerator
        writes besides, and the number of writers: None if all write.
        """
        copy = self.parameters * self.model_bytes / self.model_parallel
        state = self.parameters * self.optimizer_bytes * TENSORS / self.model_parallel
        rows = TENSORS * ROWS * self.hidden * self.optimizer_bytes
        if self.zero_stage == 0:
            return round(copy + state + rows), 0, self.model_parallel
        shard = state / data_parallel + rows
        if self.zero_stage < 3:
            return round(copy), round(shard), self.model_parallel
        return round(copy / data_parallel + shard), 0, None
