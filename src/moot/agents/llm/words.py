"""The few words that a model's member says itself, in Chinese and English."""

from moot.core.team import Language

WORDS: dict[str, dict[Language, str]] = {
    "incomplete": {"zh": "[未完成，已中断] {text}", "en": "[incomplete, broken off] {text}"},
    "cut": {"zh": "[回答到达长度上限，在此截断]", "en": "[the answer ends here at its length limit]"},
    "again": {"zh": "回答无法使用，已再次询问", "en": "the answer could not be used; asked again"},
    "wait": {"zh": "{problem}；{delay_s:g} 秒后重试", "en": "{problem}; trying again in {delay_s:g} s"},
}


def say(key: str, language: Language, **values: object) -> str:
    return WORDS[key][language].format(**values)
