"""Every number that the service or a promise of ours fixes: each with its unit and its source.

Sources: "spec 2" is part 2 of the specification (audiences), "X" the public service's documentation,
"ours" a decision of this project.
"""

from typing import Final

# --- the users endpoint: spec 2, section 8 ---
MAX_OPERATIONS: Final = 2_500  # operation objects in one request; records are not limited by number
MAX_BODY_BYTES: Final = 5_000_000  # JSON body as sent; decimal megabytes
MIN_BODY_BYTES: Final = 2_000  # the smallest limit that a caller may set; ours: a record of every kind fits
REQUESTS_PER_WINDOW: Final = 1_500  # users requests in one window, per account and token
WINDOW_SECONDS: Final = 60.0
EXPIRY_MONTHS: Final = 13  # spec 2, section 4.4: default of expires_at, counted from the request
DO_NOT_REACH_MARGIN_DAYS: Final = 1  # ours: entries of a do-not-reach list must expire earlier, by whichever clock

MAX_PAGE_ROWS: Final = 1_000  # largest `count` of a list; spec 1, section 4.0
MAX_LIST_IDS: Final = 200  # ids in one list parameter; spec 1, section 4.0
MAX_QUERY_LENGTH: Final = 255  # characters of `q`; spec 1, section 4.0
MAX_PROMOTED_TWEETS: Final = 50  # tweets in one call that promotes them; spec 1, section 8
MAX_CAMPAIGN_OPERATIONS: Final = 40  # campaigns in one batch; spec 1, section 8
MAX_CRITERIA_OPERATIONS: Final = 500  # targeting criteria in one batch; the public service's
MAX_TWEET_MEDIA: Final = 4  # images of one tweet; spec 2, section 8
MAX_TWEET_TEXT: Final = 25_000  # characters of a long post; spec 0, section 8
MAX_CURSOR_LENGTH: Final = 1_024  # characters of the token of a next page; ours: the public service's have 13
MAX_PAGES: Final = 1_000  # pages of one list that are followed; ours: a million entries at the largest `count`

# --- the data API: spec 0, section 8 ---
MAX_BACKFILL_MINUTES: Final = 5  # of activity before a stream is opened; at least 1
MAX_EVENT_BYTES: Final = 1_000_000  # one line of a stream; ours
STREAM_SILENCE_SECONDS: Final = 60.0  # without a word on a stream, then it is lost; ours: a word comes every 20 s

# --- flexible audiences: spec 2, sections 4.3 and 8 ---
FLEXIBLE_BATCH_ITEMS: Final = 10  # audiences in one batch, all or nothing
FLEXIBLE_LEAVES: Final = 10  # custom audiences in one tree
FLEXIBLE_MAX_DEPTH: Final = 20  # levels of a tree; ours: with ten leaves no one needs more
MAX_DEFINITION_BYTES: Final = 1_000_000  # of a file that defines audiences; ours

# --- creating what must not be created twice ---
CREATION_LOOKUPS: Final = 4  # of what was created, when the answer was lost; ours
CREATION_LOOKUP_SECONDS: Final = 5.0  # between two of them; ours: lists of the service may lag

# --- erasure ---
MAX_ERASURE_KEYS: Final = 1_000_000  # forms of identifiers in one erasure; ours: they are held in memory

# --- sync and renewal ---
DEFAULT_ALLOWED_SHRINK: Final = 0.2  # of the members; a source that is smaller stops a sync; `allow_shrink=`
MAX_LOST_SHARE: Final = 0.5  # of the members; a source without a key of more stops a sync; `replace=True`
MAX_LOST_KIND_SHARE: Final = 0.1  # of the members; a source without a kind that more have is warned of; ours
TOLERATED_LOST_MEMBERS: Final = 10  # so few never stop a sync: of a tiny list half are soon others; ours
RENEW_BEFORE_DAYS: Final = 30  # a sync renews what expires sooner; ours
RENEW_BEFORE_SHARE: Final = 0.5  # of the lifetime of an entry, where that is shorter than twice the days; ours
RETURN_SHARE: Final = 0.1  # of the members that one round of Deletes may take out until they are put back; ours
PROCESSING_HOURS: Final = 6.0  # one run of additions and one of removals in so long; X, audiences: every 6 to 8 hours
MAX_SNAPSHOT_IDENTIFIER_BYTES: Final = (
    46  # of an identifier in the files of a snapshot; more, and they become one; ours
)
SNAPSHOT_FRAME_BYTES: Final = 65_536  # of a snapshot besides its members; ours: two files of 513 chunks each
SNAPSHOT_WHOLE_DAYS: Final = 7  # after which a sync writes a whole snapshot: so long may who has gone stay in it; ours
MAX_EXPIRY_DAY: Final = 32_767  # a snapshot keeps expiry as days since 1970 in two bytes: 2059 is the latest

# --- readiness of audiences ---
FEW_PEOPLE: Final = 10  # a change of fewer can tell about each of them: reach is seen before and after it; ours
MIN_TARGETABLE_PEOPLE: Final = 100  # matched people that an audience needs before it can be targeted; X, audiences
MIN_SHOWN_PEOPLE: Final = 500  # people found from which the service's own pages show a size; X, audiences
READINESS_FAILURES: Final = 5  # polls in a row that may fail before waiting is given up; ours

# --- identifiers ---
SHA256_HEX_LENGTH: Final = 64  # characters, lower case
SHA256_BYTES: Final = 32  # of a hash, as it is kept
MAX_HANDLE_LENGTH: Final = 15  # characters; X, "username"
MAX_PARTNER_USER_ID_LENGTH: Final = 2_048  # characters; ours: a longer text is no id, and may hold anything personal
MAX_PLATFORM_ID: Final = 2**63 - 1  # spec 1: ids are long integers

# --- our own pace and patience ---
PACED_REQUESTS_PER_MINUTE: Final = (
    1_470  # ours: jitter on the way bunches requests; 1,484 was the worst simulated window
)
DEFAULT_CONCURRENCY: Final = 32  # requests in flight; 1,500 a minute, new connections of 50 ms and bodies of 5 MB
LOSSES_RUNNING: Final = 2  # of the connection of one request: then it may be that too many are under way
MOST_LOSSES_RUNNING: Final = 4  # then it is so, even where others were taken on top of as many
LANE_RECOVERY_SECONDS: Final = 60.0  # then twice as many requests are under way again, where they had to be fewer
LONGEST_LANE_RECOVERY_SECONDS: Final = 960.0  # it takes twice as long each time that they were too many again
MAX_ATTEMPTS: Final = 6  # attempts of one request; reliability bar: at once, then growing
RETRY_BASE_SECONDS: Final = 1.0
RECONNECT_CAP_SECONDS: Final = 60.0  # between two tries to open a stream again: 1, 2, 4 … 60 s; ours
RETRY_CAP_SECONDS: Final = 300.0  # X, audiences: at once, after 1 minute, after 5 minutes
RETRY_GROWTH: Final = 4.0  # each wait is up to four times the one before: 1, 4, 16, 64 seconds
DOUBTFUL_RESENDS: Final = 3  # of a request whose answer makes no sense; reliability bar, faults 16 and 17
ISOLATION_SINGLES: Final = 5  # records refused one by one, none taken: then the fault is not the records'
ISOLATION_REQUESTS: Final = 1_000  # sent to find the bad records of one request
SIZE_GAP_SHARE: Final = 0.1  # between a size of request that is taken and one that is refused: no more is tried; ours
SIZE_TRIAL_PARTS: Final = 2  # parts that a request must still take for a larger size to be tried; ours
THREADED_BODY_BYTES: Final = 1_000_000  # a larger body is cut up in a thread of its own
TOLD_PACE_SECONDS: Final = 1.0  # a wait for a place in the rate that is an event; ours
TOLD_WAIT_SECONDS: Final = 30.0  # a wait before a re-send that is told, with its end; ours
PROBE_SECONDS: Final = 30.0  # longest wait between two probes; reliability bar, P9: full rate within 60 s
OUTAGE_PATIENCE_SECONDS: Final = 900.0  # since the last success of the run; P9: ten minutes are outlived
SETTLE_SECONDS: Final = 900.0  # after which no attempt can still be applied; reliability bar, P7
RESIGN_SECONDS: Final = 60.0  # between two corrections of our clock; reliability bar, fault 23
MAX_CLOCK_OFFSET_SECONDS: Final = 900.0  # of the service's clock to ours; beyond, ours is to be set
MIN_CLOCK_OFFSET_SECONDS: Final = 30.0  # below, the clock is not why a signature was refused
RATE_LIMITS_IN_A_ROW: Final = 10  # of one request, then another client uses its account
JITTER_SECONDS: Final = 1.0  # on top of a wait that the service asked for
FARTHEST_RESET_SECONDS: Final = 86_400.0  # a reset beyond is no time but a mistake, such as milliseconds
DEFAULT_RETENTION_DAYS: Final = 400  # of runs that have ended: longer than an entry lasts by default (13 months)
DEFAULT_GRACE_SECONDS: Final = 30  # from a signal to the end of the process at most: what Kubernetes gives
GRACE_MARGIN_SECONDS: Final = 5.0  # of the grace, for journal and report; at most half of it
DRAIN_SECONDS: Final = DEFAULT_GRACE_SECONDS - GRACE_MARGIN_SECONDS  # for exchanges under way after an interruption
CANCELLATION_SECONDS: Final = 5.0  # for the same after a cancellation, which callers expect to come out soon; ours
MAX_RATE_LIMIT_WAIT_SECONDS: Final = 120.0  # never sleep longer on the word of a reset header
MAX_RETRY_AFTER_SECONDS: Final = 600.0
RATE_LIMIT_FALLBACK_SECONDS: Final = 60.0  # a 429 that names no usable reset
RATE_FLOOR_SHARE: Final = 0.0625  # of the full rate, four halvings: a run goes on, if slowly
RATE_RECOVERY_PER_MINUTE: Final = 0.05  # of the full rate, a minute: other users of the quota are not hit at once
FARTHEST_PLACE_SECONDS: Final = 300.0  # a place farther ahead is of another clock; pauses are at most 120 s
LIMITER_BUSY_SECONDS: Final = 60.0  # a process that was stopped while it held the limiter's file holds back the others
LIMITER_FILE_DAYS: Final = 7.0  # then the file of an earlier start of the machine is removed
REDIS_TIMEOUT_SECONDS: Final = 2.0  # to connect to Redis, and for an answer
REDIS_AWAY_SECONDS: Final = 30.0  # a restart of Redis is outlived, then the run ends
REDIS_RETRY_SECONDS: Final = 0.5  # between two tries while it is away
REDIS_MEMORY_SECONDS: Final = 3_600.0  # an unused key is forgotten; the slowest recovery takes 1,125 s
MAX_LATENESS_SECONDS: Final = 0.1  # of an answer of Redis, and then of its use: 5 requests at most move into a window
CONNECT_TIMEOUT_SECONDS: Final = 10.0
READ_TIMEOUT_SECONDS: Final = 60.0  # between two reads of an answer
REMOTE_SILENCE_SECONDS: Final = 30.0  # between two reads of a list that lies elsewhere; ours
REMOTE_PIECE_SECONDS: Final = 300.0  # one piece of 2 MiB of it, also over a slow line; ours
REQUEST_SECONDS: Final = 3_600.0  # one request with all its re-sends and waits; ours: P10, no run hangs on one request
EXCHANGE_TIMEOUT_SECONDS: Final = 120.0  # one attempt, from the first byte out to the last byte in
MAX_ANSWER_BYTES: Final = 16_000_000  # an answer beyond this is not read
LOGIN_SECONDS: Final = 300.0  # that a login waits for its person to say yes in the browser
MAX_CALLBACK_BYTES: Final = 8_192  # request line and headers of the browser that comes back
CALLBACK_READ_SECONDS: Final = 10.0  # for a peer that connects, to send its request

# --- sources: the bounds between "this row is rejected" and "this file is refused" ---
MAX_CELL_BYTES: Final = 65_536
MAX_LINE_BYTES: Final = 1_048_576
MAX_COLUMNS: Final = 10_000
MAX_INFLATION: Final = 200  # unpacked bytes per packed byte, watched after INFLATION_GRACE_BYTES
INFLATION_GRACE_BYTES: Final = 100_000_000
# Held in memory: what comes in a stream and is read from its end, such as Parquet out of a pipe or a cipher; ours.
MAX_HELD_BYTES: Final = 536_870_912
MAX_WRAPPERS: Final = 4  # compressions and ciphers, one in the other, around a list; ours
MAX_UNPACKING_BYTES: Final = 134_217_728  # memory for unpacking xz; its strongest level takes half of it
TOLERATED_FAULT_ROWS: Final = 10  # faulty rows (ragged, encoding, too large, mangled) that never refuse a file
TOLERATED_FAULT_SHARE: Final = 0.005  # of all rows; the larger of the two bounds holds
ROUNDED_IDS: Final = 3  # ids of over 15 digits that end in zeros: as many may be true
ROUNDED_SHARE: Final = 0.05  # of a column's ids; the larger of the two bounds holds
PHONES_AMONG_NUMBERS: Final = 0.5  # of bare digits that would leave unhashed carry a country's code or a trunk prefix
NATIONAL_AMONG_NUMBERS: Final = 0.8  # of them read as numbers of one country; of ids half may, by chance
MIXED_AMONG_NUMBERS: Final = 0.8  # of them are of several countries, by the mixture that explains them best
NUMBERS_EVIDENCE: Final = 10.0  # natural logarithm: so much better do phone numbers explain a list than ids do
PAYMENTS_AMONG_NUMBERS: Final = 0.5  # of what is written like a card or an account checks; of ids a tenth may
NUMBERS_THAT_COUNT: Final = 10  # so many refuse a column of which they are the smaller part
PERSONAL_AMONG_IDS: Final = 0.25  # of partner ids are shaped like names, dates, places; of drawn ones a twentieth is
SHAPES_THAT_COUNT: Final = 3  # so many refuse a column of which they are the smaller part
CHECKED_AMONG_IDS: Final = 0.5  # of partner ids have check digits of national numbers; of drawn ones a twentieth has
PHONES_BEHIND_WORDS: Final = 0.8  # of the numbers behind words read as phone numbers, with code, prefix or country
NATIONAL_BEHIND_WORDS: Final = 0.95  # of them as mobile numbers of one country that no one named
DEFAULT_MAX_REJECTED_COLUMN_SHARE: Final = 0.5  # of a column's values are of no such kind; `max_rejected_column_share=`
WRONG_KIND_MIN_VALUES: Final = 3  # fewer wrong values are typing errors unless they look like another kind
DEFAULT_MAX_REJECTED_SHARE: Final = 0.5  # of all rows; `max_rejected_share=`
WARNED_SHARE: Final = 0.05  # of a column's values, or of the rows, are lost for one reason: the plan warns of it
WARNED_VALUES: Final = 10  # fewer are no loss to speak of, unless the column has no valid value at all
SHARED_PEOPLE: Final = 5  # that a value may stand for; a household shares a phone, a shop or an office has more people
KEEP_SHARED: Final = "keep"  # in its place: every value stays in its records, whatever number of people share it
DEFAULT_MAX_UNREAD_SHARE: Final = 0.0  # of the rows of a suppression source; `suppress_max_rejected_share=`
SAMPLE_ROWS: Final = 1_000  # rows looked at to recognise columns
BATCH_ROWS: Final = 98_304  # rows of one RecordBatch
# The same on an executor, where one thread prepares: 8 % less processor time, for some 20 MB.
CLUSTER_BATCH_ROWS: Final = 131_072


def tolerated_fault_rows(rows: int) -> int:
    """Faulty rows that a source of `rows` rows may have before it is refused."""
    return max(TOLERATED_FAULT_ROWS, int(rows * TOLERATED_FAULT_SHARE))
