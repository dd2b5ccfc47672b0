"""Error messages for simulated incidents, English and Chinese, by cause and by how much they say.

plain: wording as clients, gateways and tools print it. held: no word of any sign in processors/attribution/signs.toml is
in it, so that code and context alone decide; bench_incidents checks that. misleading: words that belong to another cause.
late: written when signs and weights were finished; nothing was changed after they were first read.
`{key}` and `{value}` are an argument of the call and its value, `{host}` and `{n}` are made up.
"""

WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "network": {
        "plain": (
            "dial tcp {host}:443: i/o timeout", "read: connection reset by peer", "curl: (6) Could not resolve host: {host}",
            "EOF occurred in violation of protocol (_ssl.c:{n})", "No route to {host}", "Temporary failure in name resolution",
            "rpc error: code = Unavailable desc = transport is closing, socket gone", "Max retries exceeded: NewConnectionError {host}",
            "访问 {host} 网络抖动，报文丢失", "与 {host} 的连接被重置", "DNS 解析 {host} 失败", "专线中断，报文无法送达", "跨机房链路异常 {n}",
            "远端主机不可达",
        ),
        "held": (
            "EAI_FAIL {host}", "errno {n}", "transport closed before headers", "zero bytes from {host}", "peer went away", "stream {n} reset",
            "通道中止，代码 {n}", "对端无应答", "通信失败 E{n}", "未收到报文",
        ),
        "misleading": (
            "access denied by {host}: reset by peer, socket closed", "invalid response: 0 bytes, connection closed by {host}",
            "session to {host} dropped, network gone", "会话断开，请检查网络，错误 {n}", "参数下发失败：连接 {host} 中断",
        ),
        "late": (
            "upstream connect error or disconnect/reset before headers: connection termination", "SSL_ERROR_SYSCALL {host}:{n}", "getaddrinfo ENOTFOUND api-{n}.partner", "HTTPSConnectionPool(host='{host}'): Read timed out.", "write EPIPE", "socket hang up", "网关到 {host} 不通", "隧道闪断 {n}", "TCP 握手未完成", "专线丢包 {n}%",
        ),
    },
    "dependency": {
        "plain": (
            "502 Bad Gateway nginx/1.{n}", "upstream request timeout", "no healthy upstream", "java.sql.SQLTransientException: pool exhausted after {n} ms",
            "FATAL: remaining slots are reserved, database too busy", "The service is undergoing maintenance (ref {n})", "worker process crashed with code {n}",
            "DEADLINE_EXCEEDED: deadline of {n} ms passed", "OOMKilled, restarting", "redis: backend unavailable",
            "核心账务系统繁忙，流水号 {n}", "服务暂不可用 [{n}]", "下游系统异常，请稍后", "风控服务超时 {n}ms", "数据库宕机，主备切换中", "系统维护中",
        ),
        "held": (
            "fault {n}", "HTTP {n} from ledger", "it did not work this time (ref {n})", "E{n}: oops", "<html><h1>Whoops</h1></html>", "status {n}",
            "处理失败 {n}", "操作未成功，流水 {n}", "出错了", "返回码 {n}",
        ),
        "misleading": (
            "session store is overloaded, backend down", "scope: shard {n} is unavailable, try again", "record lock not found, backend restarting",
            "列表服务宕机，稍后再试", "权限中心系统异常 {n}", "参数中心不可用",
        ),
        "late": (
            "503 Slow Down", "ORA-12520: listener could not find available handler", "org.apache.thrift: broker {n} is not the leader, retry", "Service Temporarily Unavailable", "thread pool is full ({n})", "deadlock victim, rerun", "账务核心返回异常 {n}", "队列积压，暂停受理", "缓存集群雪崩", "服务熔断打开",
        ),
    },
    "bad_argument": {
        "plain": (
            "{key}: Input should be a valid number", "'{value}' is not a valid {key}", "Missing required parameter: {key}", "{key} must match ^[A-Z]{{2}}$",
            "Unexpected type for {key}: got string", "invalid literal for int() with base 10: '{value}'", "{key} is out of range [0, {n}]", "Validation failed: {key} can't be blank",
            "Bad Request: malformed {key}", "time data '{value}' does not match format '%Y-%m-%d'",
            "参数 {key} 格式错误", "{key} 不能为空", "字段 {key} 取值非法：{value}", "{key} 长度不能超过 {n}", "缺少必填项 {key}", "日期格式应为 yyyy-MM-dd，收到 {value}",
        ),
        "held": (
            "{key}: '{value}'?", "what is {key}={value}", "{key} not understood", "don't know what to do with {value} as {key}", "{key} has to have {n} digits", "can't use {value}",
            "{key} 写错了", "看不懂 {value}", "{key} 填写有误", "{value} 不能用作 {key}",
        ),
        "misleading": (
            "{key} not found in enum", "{key} must be set when region is used", "timeout must be below {n}, {key} too", "no such {key} format: {value}",
            "token at {n}: unexpected character in {key}", "connection id {key} must be a number", "{key} 不支持小数，应为整数", "授权金额 {key} 不能小于 {n}",
        ),
        "late": (
            "json: cannot unmarshal string into Go struct field .{key} of type int64", "{key}: ensure this value is greater than 0", "unknown enum constant {value}", "{value} has too many decimals", "Argument {key} passed as null", "expected ISO date in {key}", "{key} 只能填数字", "{key} 超过最大长度 {n}", "请填写 {key}", "{value} 不是合法的 {key}",
        ),
    },
    "permission": {
        "plain": (
            "User is not authorized to perform: {key}:Write", "Signature verification failed", "The security token included in the request is expired",
            "Missing scope orders.write", "API key revoked on day {n}", "Access to this resource is forbidden for your role", "Please log in again", "insufficient privileges (ORA-0{n})",
            "应用未开通该接口权限", "签名校验失败", "登录态已失效", "该商户没有退款授权", "access_token 已过期", "IP 不在白名单，拒绝访问",
        ),
        "held": (
            "you shall not pass ({n})", "no.", "caller {n} blocked by policy {n}", "ask the owner for this", "not for you", "subscription lapsed on day {n}",
            "请联系负责人开通 {n}", "您没有资格操作", "账号被停用", "此操作不对您开放",
        ),
        "misleading": (
            "session timed out, sign in again", "connect with an account whose role is admin, network policy {n}", "no such permission: refunds", "credential record not found",
            "parameter access_token is expired", "登录等待超时，请重新认证", "令牌过期超时，请更新", "用户角色不存在该权限",
        ),
        "late": (
            "AccessDenied: explicit deny in policy {n}", "This app is not installed for your workspace", "jwt expired at {n}", "HMAC does not match", "The caller does not have permission", "account suspended, contact support", "应用已被停用", "证书已吊销", "无操作权限，请申请", "密钥轮换后未更新",
        ),
    },
    "data": {
        "plain": (
            "No such customer: '{value}'", "order {value} does not exist", "duplicate key value violates unique constraint idx_{n}", "Record {value} was already archived",
            "balance mismatch: ledger {n} against book", "foreign key fails for {value}", "KeyError: 'sku'", "checksum of row {n} is wrong, row corrupt",
            "订单 {value} 不存在", "查无此客户 {value}", "记录重复，主键冲突", "两边数据不一致，差 {n}", "该单据已删除", "库存记录缺失 {value}",
        ),
        "held": (
            "{value}: nothing there", "we have nothing under {value}", "there are two of {value}", "{value} is gone", "sum of lines is {n}, head says otherwise", "row {n} is half written",
            "{value} 是空的", "没有 {value} 这一条", "有两条 {value}", "{value} 的明细与汇总差 {n}",
        ),
        "misleading": (
            "no connection for customer {value} was found in the table, no row", "login {value} does not exist", "expected one row for {value}, found none: record was deleted", "backend id {value} not found",
            "名单里的客户 {value} 已删除，查无记录", "登录名 {value} 不存在", "会话编号 {value} 找不到",
        ),
        "late": (
            "Cannot add or update a child row: a foreign key constraint fails", "Expected 1 row, got 0 for {value}", "{value} is locked by an unfinished import", "stale object: {value} was changed by another user", "unexpected null in column price", "document {value} is in trash", "{value} 已作废", "原单 {value} 查无此单", "主数据缺少 {value}", "明细行号重复 {n}",
        ),
    },
    "stale_list": {
        "plain": (
            "Payments to this country are not supported", "destination is under restriction, ruleset of day {n}", "region {value} not enabled", "sanction screening hit, list revision {n}",
            "{value} is not on the list of served places", "Market {value} is blocked by the catalog of {n}",
            "不支持向该国家付款", "地区 {value} 暂未开放", "命中制裁名单（版本 {n}）", "{value} 不在服务区域", "渠道目录未覆盖 {value}", "本地码表无 {value}，上次同步 {n} 天前",
        ),
        "held": (
            "no.", "refused by rule {n}", "we don't serve {value}", "{value}: declined", "policy R-{n}", "this one can't go through",
            "不予受理 {n}", "{value} 办不了", "被规则 R{n} 拦下", "此笔不能办理",
        ),
        "misleading": (
            "{value} denied: sanction table", "{value} not found in country cache", "invalid country {value}", "permission for region {value} denied", "{value} 不存在于国家列表", "国家 {value} 无效",
            "无权向地区 {value} 付款",
        ),
        "late": (
            "corridor {value} not open", "BIN table v{n} has no entry", "{value} blocked: screening data of {n} days ago", "not a supported destination", "geo fence says no to {value}", "tariff for {value} is missing from today's file", "{value} 未开通此业务", "当前版本 {n} 的机构列表不含 {value}", "风险地区，拒绝", "该币种暂不受理",
        ),
    },
}  # fmt: skip
WORDS["jitter"] = {
    tier: (*WORDS["network"][tier], *WORDS["dependency"][tier]) for tier in ("plain", "held", "misleading", "late")
}
SHAPES: dict[str, tuple[tuple[str, int | None], ...]] = {
    "network": (("ConnectionResetError", None), ("TimeoutError", None), ("ClientConnectorError", None), ("OSError", None), ("http", 504), ("ServerDisconnectedError", None)),
    "dependency": (("http", 500), ("http", 502), ("http", 503), ("http", 504), ("TimeoutError", None), ("ConnectionRefusedError", None), ("OSError", None)),
    "bad_argument": (("http", 400), ("http", 422), ("ValueError", None), ("ArgumentError", None), ("TypeError", None), ("http", 400)),
    "permission": (("http", 403), ("http", 401), ("PermissionError", None), ("http", 403)),
    "data": (("http", 404), ("http", 409), ("BusinessFailure", None), ("http", 410), ("KeyError", None), ("FileNotFoundError", None)),
    "stale_list": (("http", 403), ("http", 403), ("BusinessFailure", None), ("http", 451)),
}  # fmt: skip
"""Kind and HTTP status of what is raised."""
SHAPES["jitter"] = (*SHAPES["network"], *SHAPES["dependency"])
