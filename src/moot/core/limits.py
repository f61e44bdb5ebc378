"""A bound on everything. Each has a default here; those that users may change are settings of the team file."""

MESSAGE_CHARS = 200_000  # one message of a human; longer is refused
OUTPUT_CHARS = 1_048_576  # one turn of an AI; longer is cut and marked
NAME_CHARS = 80
TITLE_CHARS = 200
NEXT_TARGETS = 10  # of one message; the rest are skipped with a notice
QUEUE_ENTRIES = 1_000
MEMBERS = 100
HISTORY_MESSAGES = 200  # upper bound of the setting `chat.history`
HISTORY_CHARS = 20_000  # of a remembered message that is not the newest; the log keeps all of it
OPEN_STEPS = 100
CLOSED_STEPS = 1_000  # remembered, to tell "already answered" from "unknown"
TEAM_FILE_BYTES = 1_048_576
TEAM_FILE_NODES = 50_000  # after aliases are followed: a YAML bomb stops here
TEAM_FILE_DEPTH = 32
