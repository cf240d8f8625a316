-- Who is spoken to is named when the message is read: a name ends with its account.
UPDATE history SET request = jsonb_set(request, '{at_user,name}', '""')
  WHERE request -> 'at_user' ->> 'name' <> ''
    AND user_id NOT IN (SELECT id FROM users WHERE erased_at IS NOT NULL);
