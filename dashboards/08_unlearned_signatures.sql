-- Signatures without a pattern
-- page=tools chart=table link=signature
SELECT signature, any(stage) AS stage, any(code) AS code, count() AS failures, uniq(stream_id) AS streams,
  min(failed_at) AS first_seen, max(failed_at) AS last_seen, any(found) AS sample
FROM failures FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND failed_at >= {since:DateTime64(3, 'UTC')} AND failed_at < {until:DateTime64(3, 'UTC')} AND pattern_id = ''
GROUP BY signature ORDER BY failures DESC LIMIT 20
