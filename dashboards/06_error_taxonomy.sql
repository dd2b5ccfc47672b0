-- Failures by stage and code
-- page=tools chart=heat x=code y=stage value=failures
SELECT stage, code, count() AS failures, uniqExact(stream_id) AS streams, countIf(pattern_id != '') / failures AS by_pattern,
  max(failed_at) AS last_seen
FROM failures FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND failed_at >= {since:DateTime64(3, 'UTC')} AND failed_at < {until:DateTime64(3, 'UTC')}
GROUP BY stage, code ORDER BY failures DESC
