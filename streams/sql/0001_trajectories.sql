-- What streams did, step by step, and what came of each stream.
-- Keys hold only what can't change for a row, so that a replay meets the row it wrote before; partitions follow from
-- the key, so that FINAL may work inside one partition. Payload text stands out of line in blobs, found by its hash.

CREATE TABLE IF NOT EXISTS steps (
  tenant        LowCardinality(String) COMMENT 'Tenant of the stream; "default" when the producer named none.',
  run_id        String COMMENT 'Agent run that the stream is part of; the stream''s own id when the producer named none.',
  stream_id     String COMMENT 'Model response that the step is part of.',
  `order`       Int32 COMMENT 'Number of the segment in its stream, from 0; -1 for failures. A tool result has its call''s.',
  part          UInt16 COMMENT 'Tells apart several steps of one order; 65535 for a tool result.',
  rev           UInt64 COMMENT 'Revision: of two rows with the same identity the higher one counts.',
  session_id    String COMMENT 'Session that groups runs, as the producer gave it.',
  goal_id       String COMMENT 'Goal that groups runs, as the producer gave it.',
  kind          LowCardinality(String) COMMENT 'reasoning, tool_call, tool_result, state, response or failure.',
  name          LowCardinality(String) COMMENT 'Tool of a call or result, label of reasoning, source of a state entry, stage of a failure.',
  status        LowCardinality(String) COMMENT 'ok, or what is special: a call''s status, superseded, a result''s error class, a failure''s code.',
  error_class   LowCardinality(String) COMMENT 'Why it is an error: refusal code, status of a call or result, failure code; empty when none.',
  model         LowCardinality(String) COMMENT 'Model that wrote the stream.',
  format        LowCardinality(String) COMMENT 'Format that the text was read as.',
  strategy      LowCardinality(String) COMMENT 'Which reading of a call won: json, xml_params, python_call, repair, semantic, rule, llm, none.',
  call_id       String COMMENT 'Id of the tool call, for calls and results.',
  repairs       Array(LowCardinality(String)) COMMENT 'Codes of the changes that the call needed.',
  pattern_id    LowCardinality(String) COMMENT 'Learned rule that was applied; empty when none.',
  args_hash     UInt64 COMMENT 'Hash of tool name and arguments with sorted keys; equal for equal calls; 0 for other kinds.',
  pii           Map(LowCardinality(String), UInt32) COMMENT 'How many placeholders of each PII type stand in the step.',
  started_at    DateTime64(3, 'UTC') COMMENT 'First token of the stream (event time).',
  duration_ms   UInt32 COMMENT 'How long a tool took; 0 when unknown.',
  cost_usd      Nullable(Float64) COMMENT 'Cost of a tool result; NULL when unknown, which is not 0.',
  confidence    Float32 COMMENT 'How sure the stage is of this step, 0 to 1.',
  span_start    UInt32 COMMENT 'First character in the stream''s raw text.',
  span_end      UInt32 COMMENT 'Character after the last one in the stream''s raw text.',
  chars         UInt32 COMMENT 'Length of the text in characters.',
  preview       String COMMENT 'First 200 characters of the text, clean.' CODEC(ZSTD(3)),
  content_hash  String COMMENT 'Key into blobs for text longer than the preview; empty when the preview is the whole text.',
  detail        String COMMENT 'JSON of what the kind has beyond text; empty when it is longer than 4,000 characters.' CODEC(ZSTD(3)),
  detail_hash   String COMMENT 'Key into blobs for a longer detail.',
  ingested_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the sink wrote the row.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: tombstone; the row is hidden from reads with FINAL.',
  is_error      UInt8 ALIAS error_class != '' COMMENT 'Whether the step is an error.',
  INDEX ix_run run_id TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX ix_stream stream_id TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX ix_error error_class TYPE set(64) GRANULARITY 4,
  INDEX ix_ingested ingested_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(rev, is_deleted)
PARTITION BY toMonday(started_at)
PRIMARY KEY (tenant, toStartOfHour(started_at), run_id)
ORDER BY (tenant, toStartOfHour(started_at), run_id, stream_id, `order`, part)
TTL toDateTime(started_at) + INTERVAL 180 DAY DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
COMMENT 'One row for each thing that a stream did: reasoning, call, result, state entry, response text, failure.';

CREATE TABLE IF NOT EXISTS blobs (
  tenant        LowCardinality(String) COMMENT 'Tenant; content is never shared between tenants.',
  content_hash  String COMMENT 'BLAKE2b-128 of the content, as hex.',
  content       String COMMENT 'Clean text or JSON.' CODEC(ZSTD(3)),
  last_seen     DateTime('UTC') DEFAULT now() COMMENT 'Last time a row with this content was written; the TTL runs from here.'
) ENGINE = ReplacingMergeTree(last_seen)
ORDER BY (tenant, content_hash)
TTL last_seen + INTERVAL 30 DAY DELETE
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000
COMMENT 'Texts that are too long for a row, by the hash of their content.';

CREATE TABLE IF NOT EXISTS streams (
  tenant        LowCardinality(String) COMMENT 'Tenant; "default" when the producer named none.',
  hour          DateTime('UTC') COMMENT 'Hour in which the stream was first seen to start; never changes.',
  run_id        String COMMENT 'Agent run; the stream''s own id when the producer named none.',
  stream_id     String COMMENT 'The model response.',
  session_id    String COMMENT 'Session that groups runs.',
  goal_id       String COMMENT 'Goal that groups runs.',
  state         LowCardinality(String) COMMENT 'open (no output yet), closed or truncated.',
  outcome       LowCardinality(String) COMMENT 'open, clean, repaired, partial (truncated) or failed (a call can''t be executed).',
  started_at    DateTime64(3, 'UTC') COMMENT 'First token.',
  ended_at      DateTime64(3, 'UTC') COMMENT 'Last token; of an open stream, the last step seen.',
  latency_ms    Float32 COMMENT 'Last token to structured output; 0 when unknown.',
  title         String COMMENT 'First 120 characters of the response, clean.',
  model         LowCardinality(String) COMMENT 'Model, as the producer named it.',
  provider      LowCardinality(String) COMMENT 'Provider, as the producer named it.',
  agent         LowCardinality(String) COMMENT 'attrs.agent of the stream''s meta.',
  format        LowCardinality(String) COMMENT 'Format that the text was read as.',
  tools         Array(LowCardinality(String)) COMMENT 'Tools called, in order of the first call.',
  finish_reason LowCardinality(String) COMMENT 'Why the model server stopped, when it said so.',
  steps         UInt32 COMMENT 'Segments; of an open stream, steps seen so far.',
  calls         UInt32 COMMENT 'Tool calls.',
  errors        UInt32 COMMENT 'Calls that can''t be executed and that no later call replaced.',
  repairs       UInt32 COMMENT 'Repairs of markup and calls.',
  failures      UInt32 COMMENT 'Failures recorded, repairs included.',
  pii           Map(LowCardinality(String), UInt32) COMMENT 'Placeholders by PII type.',
  reasoning_chars UInt32 COMMENT 'Characters of reasoning.',
  response_chars  UInt32 COMMENT 'Characters of the response.',
  confidence    Float32 COMMENT 'parse_confidence of the output.',
  tok_in        Nullable(UInt64) COMMENT 'Prompt tokens; NULL when the server gave no usage.',
  tok_out       Nullable(UInt64) COMMENT 'Completion tokens; NULL when the server gave no usage.',
  tok_reasoning Nullable(UInt64) COMMENT 'Reasoning tokens among them; NULL when not given.',
  tok_cached    Nullable(UInt64) COMMENT 'Prompt tokens from a cache; NULL when not given.',
  cost_usd      Nullable(Float64) COMMENT 'Cost of the response; NULL when unknown, which is not 0.',
  registry_version UInt32 COMMENT 'Registry snapshot that the stream was read with.',
  output_hash   String COMMENT 'Key into blobs for the whole output as JSON; empty while open.',
  rev           UInt64 COMMENT 'Revision: the closing row is above all open ones.',
  ingested_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the sink wrote the row.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: tombstone.',
  INDEX ix_run run_id TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX ix_stream stream_id TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX ix_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_ingested ingested_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(rev, is_deleted)
PARTITION BY toMonday(hour)
ORDER BY (tenant, hour, run_id, stream_id)
TTL hour + INTERVAL 400 DAY DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
COMMENT 'One row for each stream (model response), from its output; open streams have a provisional row.';

CREATE VIEW IF NOT EXISTS runs AS
SELECT s.tenant AS tenant, s.run_id AS run_id,
  min(s.started_at) AS started_at, max(s.ended_at) AS ended_at,
  if(countIf(s.state = 'open') > 0, 'open', 'closed') AS state,
  multiIf(countIf(s.outcome = 'open') > 0, 'open', countIf(s.outcome = 'failed') > 0, 'failed',
          countIf(s.outcome = 'partial') > 0, 'partial', countIf(s.outcome = 'repaired') > 0, 'repaired', 'clean') AS outcome,
  argMax(s.title, (s.title != '', s.started_at)) AS title, any(s.agent) AS agent,
  any(s.session_id) AS session_id, any(s.goal_id) AS goal_id,
  groupUniqArray(s.model) AS models, groupUniqArray(s.format) AS formats, groupUniqArrayArray(s.tools) AS tools,
  count() AS streams, sum(s.steps) AS steps, sum(s.calls) AS calls, sum(s.errors) AS errors,
  sum(s.repairs) AS repairs, sum(s.failures) AS failures, sumMap(s.pii) AS pii,
  sum(s.tok_in) AS tok_in, sum(s.tok_out) AS tok_out, sum(s.tok_reasoning) AS tok_reasoning, sum(s.cost_usd) AS cost_usd,
  max(s.latency_ms) AS latency_ms, max(s.ingested_at) AS ingested_at
FROM streams AS s FINAL GROUP BY s.tenant, s.run_id;
