-- News show what a message says when they are read: words end with their message.
UPDATE news SET excerpt = '' WHERE excerpt <> '';
