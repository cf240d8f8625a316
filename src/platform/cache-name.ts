export const databaseName = 'queqiao-cache';
