-- Reasoning records and the features by which similar goals are found.
-- One row is written for each record; the two views spread it into postings, so that a search reads only the postings of
-- the goal's rarest features. Postings of a replay meet in merges; what a record says now is always read from the record.

CREATE TABLE IF NOT EXISTS reasoning_records (
  tenant        LowCardinality(String) COMMENT 'Tenant of the stream.',
  record        UInt64 COMMENT 'The number in record_id: made from the stream''s id.',
  record_id     String COMMENT 'rr_<date>_<n>.',
  created_at    DateTime64(3, 'UTC') COMMENT 'Time of the stream.',
  stream_id     String COMMENT 'Stream that the record is of.',
  run_id        String COMMENT 'Run of the stream.',
  goal_id       String COMMENT 'Goal that groups runs.',
  goal          String COMMENT 'What was wanted, clean; at most 500 characters.' CODEC(ZSTD(3)),
  model         LowCardinality(String) COMMENT 'Model that wrote the stream.',
  tools         Array(LowCardinality(String)) COMMENT 'Tools of the calls that stand.',
  nodes         UInt32 COMMENT 'Reasoning blocks.',
  confidence    Float32 COMMENT 'Mean confidence of the blocks that stand.',
  gaps          UInt32 COMMENT 'Gaps that nothing filled.',
  repairs       UInt32 COMMENT 'Repairs of the calls that stand.',
  rules         Array(LowCardinality(String)) COMMENT 'Rules learned from this stream.',
  reusable      UInt8 COMMENT 'Whether a later prompt may be shown this record.',
  features      Array(UInt32) COMMENT 'Hashes of the goal''s words, the rarest first.',
  weights       Array(Float32) COMMENT 'Weight of each feature.',
  norm          Float32 COMMENT 'Length of the weight vector.',
  body          String COMMENT 'The whole record as JSON, clean.' CODEC(ZSTD(3)),
  rev           UInt64 COMMENT 'Revision: the higher one counts.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: tombstone.'
) ENGINE = ReplacingMergeTree(rev, is_deleted)
ORDER BY (tenant, record)
TTL toDateTime(created_at) + INTERVAL 400 DAY DELETE
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 10000
COMMENT 'One row for each stream that reasoned: goal, tree, figures, and whether it may be reused.';

CREATE TABLE IF NOT EXISTS record_features (
  tenant        LowCardinality(String) COMMENT 'Tenant of the record.',
  feature       UInt32 COMMENT 'Hash of a word of the goal.',
  record        UInt64 COMMENT 'The record that has it.',
  share         Float32 COMMENT 'What the feature adds to the likeness with a goal that has it.',
  tools         Array(UInt32) COMMENT 'Hashes of the record''s tools, so that a search for one reads no record.',
  expires_at    DateTime('UTC') COMMENT 'When the record is dropped, and this row with it.'
) ENGINE = ReplacingMergeTree
ORDER BY (tenant, feature, record)
TTL expires_at DELETE
SETTINGS index_granularity = 1024
COMMENT 'Postings: which reusable records have a feature. Filled by the view record_features_of.';

CREATE TABLE IF NOT EXISTS record_feature_counts (
  tenant        LowCardinality(String) COMMENT 'Tenant of the records.',
  feature       UInt32 COMMENT 'Hash of a word of the goal.',
  records       UInt64 COMMENT 'About how many records have it; replays are counted again.'
) ENGINE = SummingMergeTree
ORDER BY (tenant, feature)
SETTINGS index_granularity = 256
COMMENT 'How frequent each feature is. Filled by the view record_feature_counts_of.';

CREATE MATERIALIZED VIEW IF NOT EXISTS record_features_of TO record_features AS
SELECT tenant, feature, record, weight * weight / norm AS share, arrayMap(tool -> CRC32(concat('tool:', tool)), tools) AS tools,
  toDateTime(created_at) + INTERVAL 400 DAY AS expires_at
FROM reasoning_records ARRAY JOIN features AS feature, weights AS weight
WHERE reusable;

CREATE MATERIALIZED VIEW IF NOT EXISTS record_feature_counts_of TO record_feature_counts AS
SELECT tenant, feature, count() AS records
FROM reasoning_records ARRAY JOIN features AS feature
WHERE reusable GROUP BY tenant, feature;
