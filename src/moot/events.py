"""Every kind of event of a session, as `event.fact` holds it: `case MessagePosted(member=member, text=text)`.

The page `docs/events.md` describes each of them with its fields. New versions of Moot may add kinds and fields.
"""

from moot.core.codec import Event
from moot.core.facts import Fact
from moot.core.flows.chat.chat_events import *  # noqa: F403
from moot.core.flows.plan.plan_events import *  # noqa: F403 - the kinds of the plan flow
from moot.core.flows.supervisor.supervisor_events import *  # noqa: F403
from moot.core.session.desk_events import *  # noqa: F403 - what members do with Moot's own tools
from moot.core.session.events import *  # noqa: F403
from moot.core.session.workspace_events import *  # noqa: F403

__all__ = ["Event", "Fact"]  # for readers; the kinds are public too
