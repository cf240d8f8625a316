/** Numbers of the market that the page and the server must agree on; what is filled in is in `bounds`. */
export const marketLimits = {
  images: 6,
  /** Bytes of a file, whatever APP_FILE_MB says. */
  fileBytes: 512 * 1024 * 1024,
  /** Versions and comments that are shown at once (document 3 §9). */
  page: 10,
} as const;

/** What is said where something is missing (document 3 §5), by the server as by the form. */
export const marketTexts = {
  title: '名称不能为空',
  version: '版本号不能为空',
  versionText: '版本描述不能为空',
  image: '链接不能为空',
  published: '应用发布成功',
  saved: '保存成功',
  deleted: '删除成功',
} as const;
