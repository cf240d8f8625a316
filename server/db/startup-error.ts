/** Something that the person who starts the server must settle; shown as it is, without a stack. */
export class StartupError extends Error {}
