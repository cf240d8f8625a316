/**
 * A line that is a row of a table as files are read: its cells behind their columns' names. It says
 * something as a whole alone: "城市：成都；住宿：350".
 */
export const tableRow = /^(?:[^：；\n]{1,60}：[^；\n]*；)+[^：；\n]{1,60}：[^；\n]*$/;
