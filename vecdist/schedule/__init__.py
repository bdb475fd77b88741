"""From a graph to loop nests."""

from vecdist.schedule.lower import schedule

__all__ = ["schedule"]
