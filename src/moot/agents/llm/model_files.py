"""Files for a model: pictures, and documents where the provider takes them.

Imports pydantic_ai; to be imported when a model is first used.
"""

from collections.abc import Sequence

from pydantic_ai import BinaryContent

from moot.agents.llm.models import ModelAddress
from moot.core.session.attachments import HandedFile


def attach(files: Sequence[HandedFile], address: ModelAddress) -> list[BinaryContent]:
    """Return the parts of a prompt for the files that the model can look at."""
    return [
        BinaryContent(data=file.data, media_type=file.media_type)
        for file in files
        if file.data is not None and file.media_type in address.sees
    ]
