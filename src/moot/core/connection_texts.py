"""What a connection is told: not understood, not allowed, too fast, not now. A part of the catalogue."""

from moot.core.team import Language

CONNECTION_TEXTS: dict[str, dict[Language, str]] = {
    "bad_json": {"zh": "Invalid JSON: {detail}（不是有效的 JSON）", "en": "Invalid JSON: {detail}"},
    "unknown_event": {
        "zh": "未知事件 {detail}。可用：{available}",
        "en": "Unknown event {detail}: use one of {available}",
    },
    "bad_field": {
        "zh": "字段 {detail} 的类型或长度不对",
        "en": "The field {detail} has the wrong type or length: see the protocol's schema",
    },
    "missing_step_id": {
        "zh": "Missing step_id in user response（缺少 step_id）",
        "en": "Missing step_id in user response",
    },
    "missing_session": {
        "zh": "没有指定会话：请带上 session_id，或先创建会话",
        "en": "No session is meant: send session_id, or create a session first",
    },
    "not_found": {"zh": "Session not found（找不到会话）", "en": "Session not found"},
    "unknown_team": {
        "zh": "没有团队 {detail}。可用：{available}",
        "en": "There is no team {detail} here: use one of {available}",
    },
    "bad_cursor": {
        "zh": "游标无效：last_seq 必须是非负整数",
        "en": "Bad cursor: last_seq must be a whole number, 0 or more; use user.reconnect for the whole history",
    },
    "bad_signed_state": {
        "zh": "signed_state 无效或被改动：请用 user.reconnect",
        "en": "The signed_state is not ours or was changed: use user.reconnect",
    },
    "command_id_reused": {
        "zh": "command_id 已用于另一条命令：请换一个",
        "en": "This command_id was used for another command: choose a new one",
    },
    "not_in_this_flow": {
        "zh": "此会话的流程不支持 {detail}",
        "en": "{detail} means nothing in this session's flow",
    },
    "rate_limited": {
        "zh": "发送太快：每秒最多 {limit} 条",
        "en": "Too many messages: at most {limit} a second; wait, then go on",
    },
    "too_many_sessions": {
        "zh": "此连接关注的会话太多，上限 {limit}",
        "en": "This connection follows too many sessions, the limit is {limit}: open another",
    },
    "storage_full": {
        "zh": "磁盘已满：命令未被接受，读取仍可用",
        "en": "The disk is full: the command was not accepted, reading still works; free some space",
    },
    "unavailable": {
        "zh": "暂时无法写入，命令未被接受，请重试",
        "en": "The log cannot be written right now, the command was not accepted: try again",
    },
    "internal": {
        "zh": "服务器内部错误，命令可能未被接受，请重试",
        "en": "Something went wrong here; the command may not have been accepted: try again with the same command_id",
    },
    "upgrade_required": {
        "zh": "协议版本 {detail} 不受支持，服务器使用 {limit}",
        "en": "Protocol {detail} is not spoken here, the server speaks {limit}: upgrade",
    },
    "forbidden": {"zh": "你无权这样做", "en": "You may not do this"},
}
