"""What `weft doctor` says of devices.  In: the machine as it is; out: a fact for each device, with its rates if they
were measured.  Nothing here fails.
"""

from __future__ import annotations

from weft.device import costs
from weft.device.plan import Refused
from weft.device.targets import all_devices
from weft.runtime.doctor import Fact


def device_facts(measure: bool = False) -> tuple[Fact, ...]:
    """A line for each target; `measure`: the rates of its device are measured, if they were not before."""
    found: list[Fact] = []
    for target in all_devices():
        try:
            device = target.current()
            rates = costs.rates_of(device, target.dialect) if measure else costs.stored(device.name)
        except Refused as problem:
            found.append(Fact("devices", "note", f"{target.name}: {problem}"))
            continue
        except Exception as problem:  # a driver's own
            found.append(Fact("devices", "bad", f"{target.name}: {type(problem).__name__}: {problem}"))
            continue
        kind = "this machine's processor" if device.is_processor else "an accelerator"
        double = "" if device.has_double else ", without float64"
        text = f"{target.name}: {device.name}, {kind}{double}"
        if rates is None:
            remedy = "weft doctor --calibrate measures it; so does the first call that asks for its rates"
            found.append(Fact("devices", "good", f"{text}; not measured", remedy))
            continue
        link = f"link {rates.send / 1e9:.3g} and {rates.fetch / 1e9:.3g} GB/s"
        speed = f"memory {rates.memory / 1e9:.3g} GB/s, {rates.arithmetic / 1e9:.3g} G simple operations a second"
        found.append(Fact("devices", "good", f"{text}; a launch {rates.launch * 1e6:.3g} us, {link}, {speed}"))
    return tuple(found)
