"""Loop nests again, with what a pass makes of some of their loops."""

from __future__ import annotations

from dataclasses import replace

from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import Accumulate, Statement


class Copy:
    """The loop nests of a kernel again."""

    def __init__(self) -> None:
        self.blocks: dict[Block, Block] = {}

    def block(self, old: Block, parent: Block | None = None) -> Block:
        new = self.blocks[old] = Block(parent, old.index)
        for level, item in old.items:
            if isinstance(item, Loop):
                self.put(new, level, item)
            else:
                new.put(level, self.copied(item, new))
        return new

    def copied(self, item: Statement | Cases, new: Block) -> Statement | Cases:
        """What is no loop, in a new block."""
        if isinstance(item, Cases):
            return Cases(item.condition, self.block(item.short, new), self.block(item.long, new))
        return self.at_home(item)

    def put(self, new: Block, level: int, loop: Loop) -> None:
        """Enter what becomes of a loop."""
        new.put(level, self.loop(loop, new))

    def at_home(self, item: Statement) -> Statement:
        return replace(item, home=self.blocks[item.home]) if isinstance(item, Accumulate) else item

    def loop(self, old: Loop, parent: Block) -> Loop:
        return replace(old, body=self.block(old.body, parent))
