import { licenceFiles } from '#contract/licence-files.ts';
import css from './licence-links.module.css';

/** The licence of the program and the third-party notices, as plain text on pages of their own. */
export const LicenceLinks = () => (
  <p className={css.links}>
    <a href={licenceFiles.license} target="_blank" rel="noreferrer">
      许可证
    </a>
    <a href={licenceFiles.notices} target="_blank" rel="noreferrer">
      第三方声明
    </a>
  </p>
);
