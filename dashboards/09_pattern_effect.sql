-- Learned patterns: calls read with them
-- page=tools chart=table bars=success
SELECT pattern_id AS pattern, count() AS hits, uniq(run_id) AS runs, countIf(error_class = '') / hits AS success,
  min(started_at) AS first_hit, max(started_at) AS last_hit
FROM steps FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND pattern_id != ''
GROUP BY pattern_id ORDER BY hits DESC LIMIT 50
