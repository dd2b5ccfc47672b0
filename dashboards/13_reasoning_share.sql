-- Share of reasoning in what is written, by agent and model
-- page=behaviour chart=table bars=share
SELECT agent, model, sum(reasoning_chars) / greatest(sum(reasoning_chars) + sum(response_chars), 1) AS share,
  sum(tok_reasoning) AS tokens_reasoning, count() AS streams
FROM streams FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}
GROUP BY agent, model ORDER BY share DESC LIMIT 50
