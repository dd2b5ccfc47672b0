-- What a dispatcher does about calls, and tasks that ended at a bound.
-- A call has one row for each state until parts merge: the row with the highest rank counts, so what is told again after
-- a replay never takes an end back. The key has no time, because a replay tells the same at another one.

CREATE TABLE IF NOT EXISTS executions (
  tenant        LowCardinality(String) COMMENT 'Tenant of the stream.',
  task          String COMMENT 'Run of the stream, or its own id: what bounds are counted for.',
  stream_id     String COMMENT 'Model response that wrote the call.',
  call_id       String COMMENT 'Id of the call in its stream.',
  `order`       Int32 COMMENT 'Number of the call''s segment in its stream.',
  tool          LowCardinality(String) COMMENT 'Tool that was called.',
  state         LowCardinality(String) COMMENT 'planned, running or ended.',
  status        LowCardinality(String) COMMENT 'ok, param_error, business_failure, system_error or not_run; empty until it ended.',
  reason        LowCardinality(String) COMMENT 'Why it was not run, or the rule that decided whose fault its error is.',
  arguments     String COMMENT 'First 300 characters of the arguments, clean.' CODEC(ZSTD(3)),
  error         String COMMENT 'First 300 characters of the message, clean.' CODEC(ZSTD(3)),
  execution_id  String COMMENT 'Made of stream, call, tool and arguments.',
  duration_ms   UInt32 COMMENT 'How long the tool took; 0 when it was not run.',
  cost_usd      Nullable(Float64) COMMENT 'What the tool said it cost; NULL when unknown, which is not 0.',
  tokens        UInt32 COMMENT 'Tokens of the model response; 0 when unknown.',
  strategies    Array(LowCardinality(String)) COMMENT 'Learned strategies that had a say in it.',
  is_again      UInt8 COMMENT '1: a kept result was given again, nothing ran.',
  changed_at    DateTime64(3, 'UTC') COMMENT 'When the state changed.',
  ingested_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the sink wrote the row.',
  rank          UInt8 COMMENT 'Place of the state in a call''s life: of two rows of a call the higher one counts.',
  INDEX ix_changed changed_at TYPE minmax GRANULARITY 1,
  INDEX ix_stream stream_id TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(rank)
ORDER BY (tenant, task, stream_id, call_id)
TTL toDateTime(changed_at) + INTERVAL 180 DAY DELETE
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000
COMMENT 'One row for each call that a dispatcher saw: what is being done, what was done, what comes next.';

CREATE TABLE IF NOT EXISTS handovers (
  tenant        LowCardinality(String) COMMENT 'Tenant of the stream.',
  task          String COMMENT 'The task that ended.',
  stream_id     String COMMENT 'Stream whose call met the bound.',
  bound         LowCardinality(String) COMMENT 'steps_max, tokens_max, cost_usd_max or step_s_max.',
  record        String COMMENT 'The whole record as JSON: limit, what was used, what was done, what is left.' CODEC(ZSTD(3)),
  ended_at      DateTime64(3, 'UTC') COMMENT 'When the bound was met; of several the last one.'
) ENGINE = ReplacingMergeTree(ended_at)
ORDER BY (tenant, task, bound)
TTL toDateTime(ended_at) + INTERVAL 180 DAY DELETE
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000
COMMENT 'Tasks that ended at a bound, for the person who takes over.';
