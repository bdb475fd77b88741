"""Launches that are made again and again: which of them may be captured."""

from vecdist.samplers.replay import Launches


def test_what_cannot_be_captured_is_launched_every_time():
    made = []

    def alone(arrays, out):
        made.append("alone")

    def with_products(arrays, out):
        made.append("with products")

    with_products.capturable = False
    launches = Launches([(alone, (), ()), (with_products, (), ())], on_gpu=True)
    launches()
    launches()
    assert made == ["alone", "with products"] * 2 and not launches.replayed
    assert Launches([(alone, (), ())], on_gpu=True).replayed
