"""Word lists about the world: fields of life and work, rival technologies, kinds of deliverables.

Texts are compared by their tokens (see `tokens.tokens_of`).
"""

from moot.runtime.understanding.rules.tokens import tokens_of

FIELDS: dict[str, frozenset[str]] = {
    name: tokens_of(block)
    for name, block in {
        "software": """
            code function class method module variable bug error exception test unit regression refactor compile build
            deploy api endpoint rest graphql backend frontend server client database table column row schema sql index
            migration orm cache redis queue docker kubernetes container ci pipeline git commit push branch merge pr
            repo
            repository lint format typescript javascript python java rust go react vue angular svelte css html
            component
            button page form modal header footer navbar sidebar route router login auth session token password user
            admin
            library package dependency import config env yaml json script cli terminal log logging debug stack trace
            async
            thread memory performance latency timeout retry validation parser regex string type interface struct null
            undefined feature app application web website mobile ios android service microservice nginx port host
            plugin
            extension hook state store render query crud fixture mock coverage lambda model dataset training inference
            algorithm sort dashboard ui ux layout font color dark mode responsive icon favicon upload download
            代码 函数 类型 方法 模块 变量 报错 错误 异常 测试 单元 用例 重构 编译 构建 部署 接口 后端 前端 服务
            服务器 客户端 数据库 字段 索引
            迁移 缓存 队列 容器 提交 分支 合并 仓库 组件 按钮 页面 表单 弹窗 路由 登录 鉴权 密码 权限 依赖 配置 脚本
            日志 调试 线程 内存 性能
            超时 重试 校验 解析 正则 功能 应用 小程序 微服务 插件 状态 渲染 爬虫 抓取 算法 样式 布局 响应式 上传
            下载 埋点 环境 端口 单体 架构
        """,
        "writing": """
            article blog post essay paragraph sentence headline title section chapter outline draft tone style word
            wording
            intro introduction conclusion summary copy text story novel narrative reader audience editor publish
            newsletter
            tweet thread caption script press release manual documentation grammar spelling citation footnote
            文章 博客 段落 句子 标题 章节 大纲 草稿 语气 措辞 文案 正文 开头 结尾 摘要 总结 笔记 故事 小说 读者
            公众号 推文 标签 脚本 短视频
            稿子 字数 排版 小红书 引言 结论
        """,
        "office": """
            slide deck presentation powerpoint spreadsheet excel chart graph report figure budget sales revenue
            quarter kpi
            forecast meeting agenda minutes roadmap strategy proposal competitor pricing market research survey
            analysis
            data statistics trend region customer segment campaign marketing brand ad seo
            幻灯片 演示 表格 图表 报告 报表 预算 销售 营收 季度 预测 会议 纪要 路线图 策略 提案 竞品 定价 市场 调研
            选型 分析 数据 统计 趋势
            客户 活动 策划 品牌 营销 运营 反馈 用户 聚类 主题
        """,
        "translation": """
            translate translation english german french japanese spanish chinese italian korean localise localize
            glossary
            翻译 英文 英语 日语 日文 韩语 法语 德语 中文 译成 译文 术语 本地化
        """,
        "household": """
            birthday wedding anniversary gift party dinner cat dog pet baby kid mom dad wife husband girlfriend
            boyfriend
            friend colleague neighbour neighbor apartment furniture garden laundry grocery recipe cook cake
            breakfast lunch
            生日 婚礼 礼物 聚会 宠物 家猫 小狗 孩子 宝宝 老婆 老公 女朋友 男朋友 同学 同事 邻居 家具 做饭 做菜 菜谱
            食谱 蛋糕 晚饭 午饭 起个 名字
        """,
        "travel": """
            flight hotel train ticket trip travel vacation holiday itinerary visa passport airport taxi weather
            restaurant
            机票 酒店 高铁 火车 车票 旅行 旅游 行程 签证 护照 机场 打车 天气 餐厅 景点 攻略
        """,
        "trivia": """
            capital president prime minister world cup olympic football basketball match movie film actor singer
            song band
            planet moon history century war population country river mountain joke riddle horoscope lyrics
            首都 总统 世界杯 奥运 足球 篮球 比赛 电影 演员 歌手 歌词 星座 历史 人口 国家 河流 笑话 谜语 冠军
        """,
        "verse": "poem poetry haiku limerick sonnet verse rhyme 写诗 首诗 诗歌 俳句 对联 打油诗 情书 散文诗",
        "letters": """
            email letter apology resume cv cover job ad vacancy invitation card invoice contract complaint speech
            toast
            邮件 道歉 简历 求职 请柬 邀请函 贺卡 发票 合同 演讲稿 请假条 感谢信 辞职信 报价表 报价单
        """,
        "money": """
            stock crypto bitcoin tax mortgage loan insurance salary invest
            股票 基金 比特币 报税 房贷 贷款 保险 理财 工资条
        """,
        "body": """
            diet workout exercise sleep doctor headache medicine symptom
            减肥 健身 睡眠 医生 头疼 感冒 吃药 症状 体检
        """,
        "pictures": """
            svg logo illustration drawing picture image photo rocket painting
            图标 火箭 插画 海报 头像 照片 图片 画一 画个
        """,
    }.items()
}
# Fields that often occur in the same work: sites have pictures, reports have texts.
_RELATED_FIELDS: tuple[frozenset[str], ...] = (
    frozenset({"software", "pictures"}),
    frozenset({"writing", "office", "translation"}),
    frozenset({"household", "verse"}),
)
RIVALS: tuple[frozenset[str], ...] = tuple(
    tokens_of(block)
    for block in (
        "react vue angular svelte nextjs nuxt solidjs jquery htmx",
        "flutter swiftui kotlin swift uniapp",
        "fastapi flask django express nestjs rails laravel spring gin",
        "python javascript typescript rust java kotlin golang ruby php c++ c# scala elixir",
        "mysql postgres postgresql sqlite mongodb oracle mariadb dynamodb clickhouse",
        "aws azure gcp vercel heroku",
        "discord telegram slack whatsapp wechat messenger",
        "github gitlab bitbucket jenkins circleci",
        "webpack vite rollup esbuild",
        "pytorch tensorflow jax",
        "english german french japanese spanish chinese italian korean portuguese russian arabic",
        "英语 德语 法语 日语 西语 韩语 俄语 葡语 中文 意大利 西班牙 葡萄牙",
        "微信 支付宝 抖音 快手 小红书 微博 知乎 b站",
    )
)
_LANGUAGES = "英德法日韩俄西葡"
# Kinds that are a work of their own. A table or a chart is mostly part of one.
DELIVERABLES: frozenset[str] = tokens_of("""
    article post essay newsletter tweet video podcast book story poem report deck presentation infographic poster
    landing
    website shop app application api cli library plugin bot game dashboard platform microservice monolith extension
    whitepaper course manual tutorial roadmap prototype brochure playbook
    文章 笔记 短视频 视频 脚本 播客 海报 长图 报告 路线图 幻灯片 网站 官网 商城 小程序 公众号 插件 平台 微服务 单体
    手册 教程 书籍 白皮书 问卷
    直播 推文 引擎
""")
# Parts of almost any work: an order for one of them stays within it.
COMMON_PARTS: frozenset[str] = tokens_of("""
    test tests readme documentation docs comment changelog commit example benchmark script config log logging error
    message title summary section chart button page component function class file folder table column diagram
    screenshot
    faq validation type endpoint route hook migration seed fixture mock footer header slide paragraph heading list
    测试 用例 文档 注释 示例 例子 日志 报错 标题 摘要 小节 图表 按钮 页面 组件 函数 文件 目录 表格 字段 说明 接口
    参数 脚本 配置 封面 目录
""")
PRIVATE_FIELDS = frozenset({"household", "travel", "trivia", "verse", "letters", "money", "body"})


def fields_of(tokens: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, known in FIELDS.items() if tokens & known)


def shares_field(word: str, work: frozenset[str]) -> bool:
    """Whether a word is of the same field as the work, as "header" is if the work is a web page."""
    return bool(fields_of(frozenset({word})) & fields_of(work))


def is_private(tokens: frozenset[str], work: frozenset[str]) -> bool:
    """Whether the tokens are of private fields only, and unrelated to the work."""
    fields = fields_of(tokens)
    return bool(fields) and fields <= PRIVATE_FIELDS and is_unrelated(tokens, work)


def is_unrelated(tokens: frozenset[str], work: frozenset[str]) -> bool:
    """Whether the fields of the tokens have nothing to do with those of the work. False if either has none."""
    fields, work_fields = fields_of(tokens), fields_of(work)
    if not fields or not work_fields or fields & work_fields:
        return False
    return not any(fields & related and work_fields & related for related in _RELATED_FIELDS)


def find_rivals(tokens: frozenset[str], goal: frozenset[str]) -> frozenset[str]:
    """Find technologies, languages or platforms that would replace one that the goal names."""
    tokens, goal = _unify_languages(tokens), _unify_languages(goal)
    return frozenset().union(*((group & tokens) - goal for group in RIVALS if group & goal))


def _unify_languages(tokens: frozenset[str]) -> frozenset[str]:
    """Add 英语 for 英文, and so on: both name the same language."""
    names = (token for token in tokens if len(token) == 2 and token[1] == "文" and token[0] in _LANGUAGES)
    return tokens | {f"{name[0]}语" for name in names}
