-- Ending an account used to end its membership by setting it to end at once, also where there was
-- none: whoever never bought one then had the date of an end.
UPDATE users SET vip_activated_at = NULL, vip_expired_at = NULL
  WHERE deleted_at IS NOT NULL AND vip_activated_at = vip_expired_at
    AND NOT EXISTS (SELECT FROM orders WHERE user_id = users.id AND kind = 'vip' AND paid_at IS NOT NULL);
