-- What still runs for an account when it ends has tokens set aside; what of them comes back then is
-- nobody's. It is marked at the wallet, which is locked by whatever moves tokens.
ALTER TABLE wallets ADD COLUMN closed boolean NOT NULL DEFAULT false;
UPDATE wallets SET closed = true FROM users
WHERE users.id = wallets.user_id AND users.erased_at IS NOT NULL;
INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
SELECT user_id, pot, 'adjust', -amount, 'user:' || user_id, '账号注销'
FROM wallets, LATERAL (VALUES ('balance', balance), ('vip', vip_balance)) AS left_over (pot, amount)
WHERE closed AND amount > 0;
UPDATE wallets SET balance = 0, vip_balance = 0 WHERE closed;
