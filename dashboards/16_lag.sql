-- Records not yet read, by stage, and age of the oldest
-- page=pipeline chart=lines x=time y=lag,oldest_s series=stage
WITH greatest(60, intDiv(dateDiff('second', {since:DateTime64(3, 'UTC')}, {until:DateTime64(3, 'UTC')}), 300)) AS width
SELECT time, stage, sum(most) AS lag, max(oldest) / 1000 AS oldest_s FROM (
  SELECT toStartOfInterval(ts, toIntervalSecond(width)) AS time, stage, topic, partition,
    max(stage_stats.lag) AS most, max(oldest_ms) AS oldest
  FROM stage_stats
  WHERE ts >= {since:DateTime64(3, 'UTC')} AND ts < {until:DateTime64(3, 'UTC')}
  GROUP BY time, stage, topic, partition)
GROUP BY time, stage ORDER BY time, stage
