"""The English patterns (see `acts.Lexicon`). They are matched against one clause in lower case, without its lead."""

from moot.runtime.understanding.rules.acts import Act, Lexicon, join, phrases, split

_SLOTS = {  # a slot may name later ones
    "tail": join(r"""
        (?: (?:right now|right away|now|immediately|at once|asap|please|pls|for now|for good|for {time}|for me
        |then|ok|already|and wait|guys|everyone|everybody|dude|man|bro|completely|entirely|altogether|again
        |thanks|until .*|till .*|while i .*|so i can .*|for today|for the day|after (?:that|this|lunch)|today
        |tomorrow|tonight|later(?: today)?
        |next week))*+[.! ]*$
    """),
    "run": join(r"""
        it|this|that|them|everything|anything|all(?: of (?:it|this|that|them))?|(?:all )?(?:the|this|that|your
        |my|our|these)? ?(?:current |whole |entire |running |other )?(?:run|tasks?|jobs?|work|process|execution
        |session|pipeline|workflow|agents?|operation|thing|build|loop)|what(?:ever)? you(?:'re| are) doing
        |what you're at|working(?: on (?:it|this|that))?|running|generating|executing|processing|doing (?:it
        |that|this|anything)|here|there|(?:the|this|that|your) \w+ (?:run|job)
    """),
    "time": r"(?:a |one |two |ten |\d+ )?(?:sec|second|moment|minute|min|bit|while|hour|day|tick)s?",
    "cancel": join(r"""
        stop|cancel|abort|kill|quit|halt|terminate|end|drop|ditch|scrap|discard|shut down|call off|give up(?: on)?
    """),
    "turn": r"switch|change|move|migrate|convert|port|rewrite|turn|redo|rebuild|rework|translate|transform",
    "pause": r"pause|suspend|freeze|hold|halt",
    "replan": join(r"""
        re-?plan(?:ning)?|(?:re-?do|re-?make|re-?think) (?:the|this|that|your|our) (?:whole |entire )?plan
        |plan(?: (?:it|this|that|everything|all of it))?(?: all)? (?:again|anew|afresh|over)
        |(?:make|draw up|write|come up with|give me) (?:a|another) (?:completely |totally )?(?:new |different )?plan
    """),
    "again": r"start (?:all )?(?:over|again|fresh|anew|from scratch)|begin again",
}
_VERBS = split("""
    add adjust align allow amend analyse analyze animate annotate append apply archive arrange assign attach
    audit avoid backfill batch begin bold book brainstorm break bring build bump bundle buy cache calculate call
    capitalise capitalize center centre change check cite clean clear clone close collapse color colour combine
    comment commit compare compile complete compose compress compute configure connect consider consolidate
    convert copy correct cover create crop cut cutoff debug decrease default define delete deploy design detect
    disable display do document don't dont download draft draw drop duplicate edit embed emphasise emphasize
    enable encrypt enforce ensure exclude execute expand export expose extend extract fetch fill filter find
    finish fix flag flip focus follow force format generate get give group handle hide highlight host ignore
    implement import improve include increase indent inject inline insert install integrate introduce invent
    invert investigate iterate join keep label leave limit link list load lock log look lower make map mark
    match measure mention merge migrate mind minify mock modify monitor move name never normalise normalize note
    omit only open optimise optimize order organise organize output override overwrite package pad parallelise
    parallelize parse paste patch persist pick pin place plan plot point polish populate port prefer prefix
    prepare present preserve prevent print prioritise prioritize profile propose provide publish pull push put
    query quote raise randomise read rearrange rebase rebuild recalculate recheck recommend recreate redesign
    redirect reduce refactor refer reference reformat regenerate register reimplement reinstall release reload
    remember remove rename render reorder reorganise reorganize rephrase replace report reposition research
    reset resize resolve respect restart restore restrict restructure retain return reuse revert review revise
    rework rewrite rollback rotate round run sanitise save scale scan schedule scrape scroll search secure
    select send separate serve set setup sharpen shift ship shorten show shrink shuffle simplify skip smooth
    sort specify speed split squash stage standardise standardize start stay stick store stream strip structure
    style submit subtract suggest summarise summarize support swap switch sync tag take target test throttle
    tidy tighten toggle tone track train transform translate treat trim truncate try tune turn tweak type undo
    unify uninstall unpin update upgrade upload use validate verify version visit visualise visualize warn watch
    widen wire wrap write zip zoom
    downgrade deduplicate decouple dockerize containerize rollout reconnect rerun retest recompile replan re-plan
    let seed redo scratch fade swap mirror
    stop cancel kill end pause freeze halt forget scrap ditch abandon continue hold
""")
_MORE_ORDERS = join(r"""
    [a-z]{3,12}(?:ize|ise|ify)|go (?:back|with|through)|get rid|no (?:need|more|\w+ing)
    |not (?!just|only|sure|bad|yet|now|really|working|my|a )\w+|without
""")
# An unknown word in front of an article is most likely a verb that orders something: "seed some data".
_BARE_ORDER = join(r"""
    (?!(?:btw|fyi|ok|okay|well|hey|oh|hm+|actually|basically|sorry|thanks|now|is|are|was|were|has|had|have|did|does
    |do|in|on|at|for|from|with|by|of|to|and|or|but|if|when|while|after
    |before
    |because|since|as|than|like|about|into|over|under|not|also|just|only|even|maybe|what|who|why|how|where|which
    |that|there
    |here|it|this|i|we|you|they|he|she|love|hate|see|got|saw|found|said|thought|think|guess|know|hope|wish|yes|no
    |both|all
    |same|such|quite|half|still|then|so|too|very|once|through|without|during|between|against|via|per|until|till|though
    |although|unless|whether|almost|nearly|during|behind|despite|me|us|him|her)\b)
    (?!\w+(?:s|ed|ing|ly)\b)[a-z]{2,14} (?:the|a|an|some|all|each|every|this|that|these|those|it|them|my|our|your
    |its|any)
""")
_ACTS: dict[Act, str] = {
    Act.KEEP_RUNNING: r"""
        (?:don'?t|do not|no need to|never|you don'?t (?:have|need) to
        |not) (?:you )?(?:dare )?(?:to )?(?:(?:{cancel}|{pause}|wait|interrupt)(?:ping|ing)?|{replan}|{again})
        (?: {run})?(?: yet| until .*)?{tail}
    """,
    Act.STATUS: r"""
        (?:(?:the |current |any )?(?:status|progress|eta)(?: update| report| so far)?|status of .*
        |progress on .*|any (?:updates?|progress|news|luck)(?: .*)?|(?:give|show|tell
        |send) (?:me |us )?(?:a |an |the |your )?(?:quick |short |brief )?(?:status|progress|update)\b.*
        |(?:status|progress) (?:check|report)|update me.*|(?:so )?how(?:'s|s| is| are) (?:it|things|that|this
        |everything|you|we|the \w+(?: \w+)?) (?:going|coming|doing|looking|progressing|getting on).*|how far .*
        |how much (?:longer|more|is left|time|is done|have you).*|how (?:long|many \w+) .*(?:left|remaining|take
        |longer|to go|until|till|finished|done|before)\b.*|how long(?: will.*| now| more)?|when (?:will|can|are
        |do) .*(?:done|ready|finish|finished|complete|expect)\b.*|(?:so )?(?:are|r) (?:you|u|we
        |they) (?:still |even |almost |nearly |all |actually )?(?:there|working|running|alive|going|done
        |finished|stuck|ready|on it|on this|busy|close|awake|frozen|dead)\b.*|(?:is|are|was) (?:it|this|that
        |everything|they|all|the (?:run|task|job|agent|agents|build|process
        |work)) (?:still |even |almost |all )?(?:running|done|finished|ready|stuck|frozen|hanging|complete
        |completed|going(?: ok| well| fine| on)?$|in progress|working on it)\b.*|what(?:'s|s
        | is) (?:the )?(?:current )?(?:status
        |progress|eta|happening|going on|left|remaining|taking|still (?:open|left|missing)|the hold ?up|up
        |your status)\b.*|what are (?:you|they|we) (?:doing|working on|up to|at|waiting for)\b.*|where (?:are
        |r) (?:we|you|things)\b.*|what (?:have|did|has) (?:you|been) (?:done|finish|finished|complete|completed
        |accomplished|managed).*|(?:you |all )?(?:done|finished|ready|complete)(?: yet| already)?|did (?:it
        |you) (?:finish|complete|get stuck|crash|stop|hang)(?:ed)?\b.*|have you (?:finished|completed|started
        |begun|stopped|even started)\b.*|which .*(?:finished|done|complete|completed|left|remaining|ready
        |open)\b.*|still (?:running|working|there|alive|going|on it|stuck)\b.*|(?:you|u) (?:still )?(?:there
        |alive|stuck|ok)|(?:hello|anyone there|ping)|(?:is|are) .{1,40} (?:done|finished|ready|complete)(?: yet
        | already)?|almost (?:there|done|finished|ready)
        |(?:what|how (?:many|much))\b.* so far|(?:what|which) \w+ are (?:you|we) (?:on|at|in)(?: now)?
        |what else is left
        |has (?:it|the \w+) (?:finished|completed|started|stopped
        |crashed)\b.*|what step .*|which step .*|report (?:progress|status|back).*)[.! ]*$
    """,
    Act.SWITCH: r"""
        .*\b(?:something (?:else|different|completely different)|(?:un|not )related\b|(?:an)?other (?:topic|note
        |subject)\b|different (?:topic|question|task|subject|matter)|separate(?:ly)? (?:job|task|question|issue
        |topic|request|matter|thing|project)|separately$|new (?:task|job|topic|goal|project|request)\b(?! to| is
        | has| for the| in the)|another (?:task|job|topic|project)\b|switch(?:ing)? (?:gears|topics?|tasks?)
        |side (?:note|question|task|quest)|off[- ]topic|random question|totally different|changing (?:topic
        |subject))
    """,
    Act.RESTART: r"""
        (?:{replan})(?: {run})?{tail}
        |.*\b(?:start(?:ing)? (?:all )?over|start (?:again|fresh|anew|from (?:the )?(?:beginning|zero|nothing
        |scratch))|from scratch|begin again|redo (?:everything|it all|the (?:whole|entire)|all)
        |rewrite (?:everything|the (?:whole|entire)|it all)|throw (?:it|this|everything|that
        |all)(?: \w+)? (?:all )?(?:away|out)|scrap (?:everything|the (?:whole|entire|plan|idea)|this (?:whole
        |approach|idea|plan))|square one|(?:change of|new|different|change|changed) direction|(?:completely
        |totally|whole) (?:different|new|other) (?:approach|direction|concept|idea|product)|rethink (?:this
        |the whole|everything|it all)|change the (?:goal|scope|direction|objective|whole|entire)|the (?:goal|scope
        |objective|direction|brief|topic|audience|focus|target|subject|theme) (?:has |have )?(?:changed|is different
        |is now)|pivot(?:ing)? to
        |different approach altogether)\b
    """,
    Act.PAUSE: r"""
        (?:(?:{pause}(?: {run})?|(?:stop|wait|stay) for (?:now|me|{time})|put (?:it|this|that
        |everything) on hold|hold (?:on|it|off|up|still)(?: on (?:it|this|that))?(?: {time})?|hang on(?: {time})?
        |wait(?: (?:up|here
        |there|for (?:me|it|my .*)))?(?: {time})?|(?:just )?(?:one|a|1|gimme a|give me a|gimme
        |give me) {time}(?: to .*)?
        |stand ?by|not so fast|sit tight|brb|(?:let'?s )?(?:take a break|call it a day)|easy|slow down|whoa+
        |don'?t (?:do|continue
        |proceed|go on|start|run|touch)(?: anything| it| this)?(?: else)?(?: yet| for now| until .*| any further
        | right now)){tail}|{pause} {run} (?:and|so|because|while) .*)
    """,
    Act.CANCEL: r"""
        (?:{cancel}(?: {run})?{tail}|{cancel} (?:all |the |this |that |your )?(?:current )?(?:run|task|job|work
        |everything)\b(?: and .*)?$|that'?s enough{tail}|enough(?: already)?{tail}|(?:i|we) (?:no longer need
        |don'?t (?:need|want)) (?:it|this|that)(?: any ?more| at all)?{tail}
        |(?:you can |please )?stop (?:working|now|here|there)\b{tail}|stop+!*$|no more{tail})
    """,
    Act.AWAY: r"""
        i(?:'ll| will|'ve| have|'m| am)? ?(?:just |first |still )?(?:need|have|got|gotta|must|going|gonna)?(?: to)? ?
        (?:be (?:right )?back|think|check|double[- ]check|talk|ask|call|discuss|confirm|decide|verify|look (?:at
        |into)|go|eat
        |grab|leave|step|speak|sleep|meet|figure|get (?:back|lunch|coffee|some)|in a meeting|afk|away|back)\b.*
        |let me (?:check|think|look|see|verify|read|ask|review|confirm|double|talk|sleep).*
        |(?:lunch|meeting|phone|call|coffee)\b.*|back in .*
    """,
    Act.RESUME: r"""
        (?:resume|unpause|un-pause|unfreeze)(?: {run}| .*)?{tail}|(?:start|pick up|take up)(?: {run})? (?:again
        |where you (?:left off|stopped)).*
    """,
    Act.GO_ON: r"""
        (?:continue|go on|go ahead|keep (?:going|it up|on|at it|working|running|moving)|keep on \w+ing|carry on
        |proceed|move on|moving on|onwards?|next(?: one| step)?|go(?: for it)?|begin|start|let'?s (?:go|continue
        |start|do (?:it|this|that)|proceed|move on)|do (?:it|that|so)|make it so|as planned|just do it)(?: {run}
        | with .*| as .*| where .*| from .*| to the next.*| working.*| the (?:work|rest|plan).*)?{tail}
    """,
    Act.DROP: r"""
        (?:never ?mind|nvm|forget (?:it|that|this|about (?:it|that|this)|everything|all (?:of )?(?:that|this|it)
        |what i said)|scra(?:p|tch) (?:that|this|it)|ditch (?:it|that|this)|drop (?:it|that|this)|screw (?:it|that)
        |skip (?:it|that|this)|cancel (?:it|that|this)|stop (?:it|that|this)|(?:i|we)(?:'ve
        | have)? changed my mind|change of plans?|on second thoughts?|new plan|plans? (?:has |have )?changed?
        |leave that)\b.*
    """,
    Act.RETRY: r"""
        (?:try|do|run|check|test) (?:it |that |this )?(?:again|once more|one more time)|retry.*|again|redo (?:it
        |that|this)|once more|one more time|(?:please )?fix (?:it|this|that|them|(?:the|this|that|these
        |those) (?:errors?|bugs?|issues?|problems?|failures?|warnings?))(?: please| now| pls)?
        |(?:it'?s |that'?s |this is )?still (?:not |broken|wrong|fail|the same|happening|doesn|getting|there
        |an? |shows?).*|(?:the )?same (?:error|issue|problem|thing|result)(?! for| with| in| on).*
        |(?:it |that |this )?(?:didn'?t|doesn'?t
        |does not|did not|isn'?t|is not) (?:work|help|fix|change|compile|build|start)(?:ing)?\b.*
        |nothing (?:changed|happens|happened).*
        |(?:that'?s|this is|it'?s|that is|this isn'?t|that isn'?t) (?:not )?(?:exactly )?(?:what i (?:meant|asked
        |wanted|want|said)|it|wrong|incorrect)\b.*
    """,
    Act.EXPLAIN: r"""
        (?:(?:can|could|would|will) (?:you|u) (?:please |pls |also |just |quickly )*)?(?:explain|tell (?:me|us)
        |describe|clarify|remind me|elaborate|walk me through|summari[sz]e what you|show me (?:what|how|why
        |where|the (?:diff|output|result|code|changes|plan|current))|let me (?:know|see)|help me understand
        |confirm (?:that|if|whether)|say more|give me (?:an overview|a summary|the (?:details|reason))
        |i'?m (?:curious|wondering|confused|not sure)|i wonder|i don'?t (?:understand|get|see|know))\b.*
        |(?:(?:can|could|would|will) (?:you|u) (?:please |pls |also |just |quickly )*)?(?:check|(?:take
        |have) a (?:quick )?look
        |look (?:at|into|through|over|again)|verify|double[- ]check|see (?:if|whether|what|why|how)
        |read (?:the|this|that|through|all)|review (?:the|this|your|what)|list (?:the|all|what)|show (?:me|us))\b
        (?!.* (?:and|then) (?:change|modify|fix|add|update|make|remove|correct|rewrite|write|create|improve)).*
    """,
    Act.SUGGEST: r"""
        (?:(?:can|could|would|will) (?:you|u|we|it|this)(?: all)?(?: not| also| please| pls| maybe| just
        | instead)*|(?:can|could) (?:i|we) (?:have|get)|(?:would|do) you mind|any chance (?:you|we)|(?:is
        |would) it (?:be )?possible to|how about|what about (?:\w+ing|a|an|instead)\b|what if (?:we|you|it)
        |why (?:not|don'?t (?:you|we))|shouldn'?t (?:it|we|you|this|that|the)|maybe (?:we|you)? ?(?:should|could
        |can|add|use|try|make)?|perhaps|mind \w+ing)\b .*
    """,
    Act.QUERY: r"""
        (?:what|why|how|when|where|who|whom|whose|which|is|are|was|were|do (?:you|we|i|they|these|those|any|u)|does
        |did|has|have (?:you|we|they)|had
        |can i|could i|should (?:i|we|it|you|the|this|that|they)|would (?:it|that|this|you (?:say|recommend
        |suggest))|will|am i|any (?:idea|reason
        |thoughts)|what's|whats|how's|hows|who's|where's|isn'?t|aren'?t|doesn'?t|didn'?t|so (?:what|why|how|is
        |are|does|did)|really|right)\b.*
    """,
    Act.WISH: r"""
        (?!.*\b(?:is|are|was|were|do|does|did|am|can|will|could|would|has|have
        |\w+'\w+)\b)[\w %.-]{2,30},? not [\w %.-]{2,30}$|
        (?:short|long|bigg|small|larg|fast|slow|simpl|dark|light|bright|warm|clean|bold|sharp|punchi|funni|loud|soft
        |tight)er[.! ]*$
        |(?:(?:the )?same (?:thing )?(?:for|with|on|in)|needs?|less|fewer|more|max(?:imum)?|min(?:imum)?|only|bigger
        |smaller|shorter|longer|larger|faster|slower
        |simpler
        |no(?! idea| clue| one| problem| luck| worries| way| such| need| error| change| difference| output| response
        | result)) .+
        |.*\b(?:should(?:n'?t)?(?! (?:work|be (?:fine|ok|good|enough) ))|must(?:n'?t)?|needs?\b(?! to (?:know|see
        |check))|has to|have to
        |ought to|make sure|ensure|be sure|be careful|(?:i
        |we) (?:also |really |still |just |now |actually |only )?(?:want|need|prefer|expect|mean|meant)\b|(?:i
        |we)(?:'d| would) (?:like|love|prefer|want)\b|want(?:s|ed)? (?:it|this|the|a|to)|prefer(?:ably)?|i'd rather
        |let'?s|better (?:to|if)
        |would be (?:nice|good|great|better|cool)|you (?:forgot|missed|left out|skipped|didn'?t (?:add|include
        |do|update|change|handle|use))|don'?t forget|(?:is|are|was|were) missing|missing (?:a|an|the|from)
        |too (?:\w+)$|too (?:big|small|long|short|slow|fast|dark|bright|much|many|few|formal|casual|complicated
        |complex|verbose|wide|narrow|large|loud|tight|close|far|generic|technical|salesy|dense)\b|not \w+ enough
        |rather than|instead|at (?:most|least)|no more than|no (?:emoji|emojis|comments|jargon|external)\b
        |only (?:use|for|in|the))
    """,
    Act.ACK: r"""
        (?:(?>(?:(?:it|that|this|all|everything)?'?s? ?(?:works?|looks?|sounds?|seems?|is|all
        |was) ?(?:very |really |pretty |all |so |much |already )?(?:good|great|fine|ok(?:ay)?|right|nice|perfect
        |correct|reasonable|better|well|awesome|amazing|cool|now|it|working|useful|helpful|clear)(?: to me
        | for (?:me|now)| now| enough| so far| already| here| then| as is)?|(?:good|nice|great|solid|excellent
        |impressive) (?:work|job|one|call|catch|idea|point|find|stuff|question|headline|title|start|progress)
        |keep (?:it|them|that|this)(?: (?:as is|like that|for now|this way|that way))*|no (?:problem|worries
        |objections?|changes?(?: needed)?|thanks)|thanks?(?: you)?(?: (?:so|very) much| a lot| again| for .*)?
        |(?:the )?(?:first|second|third|last|former|latter)(?: one)?|leave (?:it|them|that)(?: (?:as is|for now
        |like that|alone))?|not (?:now|yet|necessary|needed|really|today)|as (?:you|discussed|planned|is|before)\b.*
        |i (?:like|love) (?:it|this|that|the \w+)|whatever(?: you (?:think|prefer|like))?|good (?:morning|night
        |evening)|(?:option|number|#)? ?[a-d1-9]|very (?:good|nice|cool)|love (?:it|this|that)|i agree(?: with .*)?
        |your (?:call|choice)|all of (?:them|it)|sure(?: thing)?|take your time|so far so good|please(?: do)?
        |perfect(?:o)?|go(?: ahead)?|ok(?:ay|ey)?|looking good|makes sense|fair enough|interesting|understood
        |you decide|excellent|brilliant|beautiful|approved?|well done|see you.*|up to you|all good|correct|exactly
        |agreed?|awesome|amazing|ship it|sorry.*|no rush|neither|proceed|lovely|cheers|works?|got it|gotcha|my bad
        |either|yeah+|right|great|nice+|haha+|i see|noted|yes+|true|fine|good|neat|cool|wow+|lgtm|tysm|done|nope
        |hehe|both|none|yep|yea|yup|thx|nah|lol|hm+|uh+|um+|huh|ah+|hey|bye|all|pls|k+|ya|ty|no|np|oh|hi|y
        |n)(?![a-z0-9']))[ ,.!:)]*+)++$
    """,
}

ENGLISH = Lexicon(
    acts={
        **{act: phrases(block, **_SLOTS) for act, block in _ACTS.items()},
        Act.ORDER: phrases(rf"(?:{'|'.join(sorted(_VERBS, key=len, reverse=True))}|{_MORE_ORDERS}|{_BARE_ORDER})\b.*"),
    },
    lead=phrases(r"""
        (?:(?:ok(?:ay)?|whoa+|yo|alright|right|well|so|hmm+|um+|uh+|oh|ah|hey|hi|hello|yes|yeah|yep|no|nope|nah
        |wait(?= no| i| that| actually| what| why| it| the| you)|actually|and|but|also|plus|then|now|next|first
        |finally|lastly|btw|by the way|please|pls|plz|just|great|cool|nice|perfect|thanks|sorry|maybe|oops|fyi
        |additionally|besides|dude|man|bro|sure|good|basically|honestly|tbh|anyway|afterwards|after that
        |when you'?re (?:done|finished)|once (?:done|you'?re done|that'?s done|it'?s done)|while you'?re at it
        |in addition|one more(?: thing)?|another thing|for now|again|to be clear|to clarify|i mean|i think
        |i guess|it would be (?:nice|great|good) if you(?: could)?|you (?:can|should|could|need to|have to|must
        |may)|i(?:'d| would)? (?:want|need|like) you to|we (?:should|could|can|need to)|feel free to
        |go ahead and|try to|remember to|be sure to|make sure (?:to|you))\b[ ,:!.\-]*)+
    """),
    additive=phrases(r"""
        \b(?:also|too|as well|additionally|plus|in addition|while you'?re at it|one more|another|extra|on top
        |along with|and add|again)\b|^and\b
    """),
    pointing=phrases(r"""
        \b(?:it|its|this|that|these|those|them|they|there|here|above|below|previous|former|latter|ones?|the (?:same
        |other|rest|first|second|third|last|next|current|existing|new|old|whole))\b
    """),
    new_thing=phrases(r"""
        (?:(?:can|could|would|will) (?:you|u) (?:please |pls |also |just |maybe )*)?(?:help (?:me
        |us) (?:to )?)?(?:write|draft|create|build|make|generate|design|draw|paint|compose|prepare|produce|plan|book
        |order|buy
        |find|research|look up|search|translate|invent|suggest|recommend|sketch|render|record|organi[sz]e|scrape
        |calculate|compute|set up|develop|implement|code|convert|summari[sz]e|proofread|review|give|tell
        |start) (?:(?:me|us|my \w+) )?(?:up )?(?:a|an|some|another|one|two|three|four|five|ten|\d+|me|my
        |all)\b.*
    """),
    replaced=tuple(
        phrases(pattern, **_SLOTS)
        for pattern in (
            r"\binstead of (?P<old>[^,]{2,60}?)(?: (?:i|we|do|use|make|write|build|create|let's|just) (?P<new>.+)|$)",
            r"(?P<new>.+?) (?:instead of|rather than|in place of|and not|but not) (?P<old>.+)",
            r"\bnot (?:just|only|merely|simply)(?: (?:a|an|the|in|for|about))? (?P<old>.+)",
            r"^no (?:more )?(?P<old>[\w -]{3,40}?)(?: any ?more| at all| after all|$)",
            r"\b(?:we'?re|i'?m|are|am|is|let'?s|do)? ?not (?P<old>[\w -]{3,40}?) any ?more",
            r"\b(?:forget|drop|scrap|ditch|abandon|skip|leave out)(?: about)?(?: the)? "
            r"(?P<old>[\w-]+(?: (?!and\b|so\b|just\b)[\w-]+){0,3})(?: and (?P<new>.+))?",
            r"\breplace (?P<old>.+?) (?:with|by) (?P<new>.+)",
            r"\b(?:{turn})\b(?P<old>.*?)\b(?:to|into|in|as|for|over to|using) (?P<new>.+)",
            r"\b(?:make|do|write|build|create)(?: (?:it|this|that))?(?: for| in| into)? (?P<new>.+?)(?P<old>) instead$",
            r"\bmake (?:it|this|that|the whole thing) (?:in |into |for )?(?P<old>)(?P<new>.+)",
            r"\b(?:use|go with|using|prefer|want|need) (?P<old>)(?P<new>.+?)(?: instead)?$",
            r"(?P<new>.+?),? not (?:a |an |the |in |for )?(?P<old>[\w -]{2,40})$",
            r"^not (?:a |an |the |in |for )?(?P<old>[\w -]{2,40})$",
        )
    ),
    widened=phrases(r"""
        \b(?:expand|widen|extend|broaden|increase|change) the scope\b
        |\b(?:cover|for|about) (?:the |an? )?(?:whole|entire|full) (?:\w+ )?(?:year|company|platform|suite|product
        |industry|market)\b
    """),
    vague=phrases(r"""
        (?:(?:please |pls |can you |could you )*(?:change|modify|adjust|tweak|edit|revise|alter|improve|update
        |redo|rework|fix up) (?:it|this|that|them|something|a bit|things?)(?: a (?:bit|little))?(?: up)?|(?:make
        |do) (?:it|this|that) (?:better|different(?:ly)?|nicer|differently)|(?:needs?|i want|we need
        |make) (?:some )?changes?(?: please)?|something'?s? (?:is )?(?:off|wrong)|i don'?t like (?:it|this|that)
        |not like (?:this|that)|different)[ .!]*$
    """),
    trivia=phrases(r"""
        (?:who(?:'s| is| was| won| invented| wrote| discovered| founded| painted| directed)|what(?:'s| is| are
        | was) (?:the
        |a|an|your)? ?(?:capital|population|weather|distance|height|recipe|best
        |tallest|largest)|what(?:'s| is) \d|when (?:is|was|did)|where (?:is
        |was|can i)|how (?:old|tall|big|far|many (?:people|days|countries|calories)|do i (?:cook|make|get to
        |lose)|do you (?:say|cook))|do you (?:like|know|think|have feelings)|are you (?:human|an? ai|conscious)
        |tell me a (?:joke|story|fun)|translate|which country|what day|what time is it|can you recommend)\b.*
    """),
)
