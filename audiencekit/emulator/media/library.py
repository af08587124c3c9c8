"""The media library. Its endpoints are the public service's: the specification names the library and shows none.

Only keys are added, since nothing is uploaded here: what a key leads to follows from the number it begins with.
"""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.media.kinds import MEDIA
from audiencekit.emulator.media.records import GIF, IMAGE, VIDEO, is_media_key, make_media, show_media
from audiencekit.emulator.parameters import Parameters

_NAMES = ("name", "file_name")


def list_media(call: Call) -> Answer:
    """Answer `GET …/media_library`: of one type with `media_type`."""
    parameters = Parameters(call)
    media_type = parameters.choice("media_type", (IMAGE, GIF, VIDEO), "")
    return MEDIA.list_wanted(
        call, parameters, lambda record: not media_type or record.fields["media_type"] == media_type
    )


def add_media(call: Call) -> Answer:
    """Answer `POST …/media_library`: a key that is there already stays what it is; one that was deleted comes back."""
    parameters = Parameters(call)
    media_key = parameters.required_text("media_key")
    if not is_media_key(media_key):
        raise parameters.fault("media_key", "Expected a media key for media_key", "INVALID_MEDIA_ID")
    names = {name: parameters.text(name) for name in _NAMES}
    parameters.finish()
    record = MEDIA.all(call).get(media_key)
    if record is None or record.deleted:
        record = MEDIA.all(call)[media_key] = make_media(media_key, call.now, names=names)
    return success(parameters.echo, show_media(record))


def change_media(call: Call) -> Answer:
    """Answer `PUT …/media_library/:media_key`: names, which go when they are empty."""
    parameters = Parameters(call)
    names = {name: parameters.text(name, empty=True) for name in _NAMES}
    parameters.finish()
    record = MEDIA.find(call, call.ids["media_key"])
    record.change({name: text or None for name, text in names.items() if text is not None}, call.now)
    return success(parameters.echo, show_media(record))
