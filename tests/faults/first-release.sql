-- What people had in the release of 0001 to 0006: written in its own tables, before anything later was known.
INSERT INTO users (account, user_name, password_hash, manager, setting) VALUES
  ('boss', '管理者', 'no hash', true, '{}'),
  ('early', '早先的人', 'no hash', false, '{"temperature": 7}'),
  ('friend', '朋友', 'no hash', false, '{}');
INSERT INTO users (user_name, guest, merged_into) VALUES ('访客', true, NULL), ('访客二', true, 2);
INSERT INTO wallets (user_id, balance) VALUES (1, 2000), (2, 1490), (3, 2000);
INSERT INTO ledger (user_id, pot, kind, amount, reference, remark) VALUES
  (1, 'balance', 'grant', 2000, '', '注册赠送'),
  (2, 'balance', 'grant', 2000, '', '注册赠送'),
  (3, 'balance', 'grant', 2000, '', '注册赠送'),
  (2, 'balance', 'hold', -500, 'a0000000-0000-4000-8000-000000000001', ''),
  (2, 'balance', 'release', 500, 'a0000000-0000-4000-8000-000000000001', ''),
  (2, 'balance', 'spend', -10, 'a0000000-0000-4000-8000-000000000001', ''),
  (2, 'balance', 'hold', -500, 'a0000000-0000-4000-8000-000000000002', '');
INSERT INTO holds (id, user_id, balance, vip, spent, state, reference, expires_at) VALUES
  ('a0000000-0000-4000-8000-000000000001', 2, 500, 0, 10, 'settled', 'history:1', now()),
  ('a0000000-0000-4000-8000-000000000002', 2, 500, 0, NULL, 'open', 'history:3', now() - interval '1 day');
INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens, deduct_tokens, current_balance)
VALUES (2, 0, 'gpt-4o', '月亮有多远', 4, 6, 10, 2000);
INSERT INTO channels (key, kind, label, base_url, source)
VALUES ('manager old', 'openai-compatible', '旧服务', 'http://127.0.0.1:9/v1', 'manager');
INSERT INTO models (name, label, type, factor) VALUES ('gpt-4o', 'GPT-4o', 0, 1);
INSERT INTO model_channels (model_id, channel_id, upstream_name)
SELECT models.id, channels.id, 'gpt-4o' FROM models, channels
WHERE models.name = 'gpt-4o' AND channels.key = 'manager old';
INSERT INTO sessions (uuid, user_id, model, prompt, summary, private) VALUES
  ('b0000000-0000-4000-8000-000000000001', 2, 'gpt-4o', '月亮有多远', '约三十八万公里', true),
  ('b0000000-0000-4000-8000-000000000002', 2, 'gpt-4o', '公开的会话', '', false),
  ('b0000000-0000-4000-8000-000000000003', 3, 'gpt-4o', '别人的会话', '', true);
INSERT INTO history (session_id, user_id, human, ai, model, state, prev_id, hold_id, prompt_tokens, completion_tokens, deduct_tokens, answered_at)
VALUES
  (1, 2, '月亮有多远', '月亮离地球约三十八万公里。', 'gpt-4o', 'done', 0, 'a0000000-0000-4000-8000-000000000001', 4, 6, 10, now()),
  (1, 2, '那太阳呢', '', 'gpt-4o', 'error', 1, NULL, 0, 0, 0, NULL),
  -- Its process is gone.
  (2, 2, '写一首诗', '床前明月', 'gpt-4o', 'streaming', 0, 'a0000000-0000-4000-8000-000000000002', 3, 4, 0, NULL),
  (3, 3, '你好', '你好！', 'gpt-4o', 'done', 0, NULL, 1, 2, 0, now());
UPDATE history SET owner = 12345 WHERE state = 'streaming';
INSERT INTO likes (user_id, history_id) VALUES (3, 1);
INSERT INTO favorites (user_id, session_id) VALUES (2, 1);
INSERT INTO shares (key, session_id, user_id, last_history_id) VALUES ('old-share-key', 2, 2, 3);
INSERT INTO files (user_id, kind, key, mime, size, text)
VALUES (2, 'text', 'aa/aa00000000000000000000000000000000000000.txt', 'text/plain', 6, '旧的文件');
INSERT INTO push_devices (device, user_id, jti, endpoint, p256dh, auth)
VALUES (gen_random_uuid(), 2, gen_random_uuid(), 'https://push.example.com/1', 'p', 'a');
