import { accountArea } from './account/area.ts';
import { authArea } from './auth/area.ts';
import { chatArea } from './chat/area.ts';
import { contactArea } from './contact/area.ts';
import { contactParties } from './contact/contact-parties.ts';
import { complianceArea } from './compliance/area.ts';
import { contextArea } from './context/area.ts';
import { developerArea } from './developer/area.ts';
import { embeddingArea } from './embedding/area.ts';
import { exportArea } from './export/area.ts';
import { fileArea } from './file/area.ts';
import { galleryArea } from './gallery/area.ts';
import { forumArea } from './forum/area.ts';
import { helpArea } from './help/area.ts';
import { imageArea } from './image/area.ts';
import { ledgerArea } from './ledger/area.ts';
import { localModelArea } from './local-model/area.ts';
import { marketArea } from './market/area.ts';
import { modelArea } from './model/area.ts';
import { modelParties } from './model/model-parties.ts';
import { safetyParties } from './moderation/safety-parties.ts';
import { moderationArea } from './moderation/area.ts';
import { noticeArea } from './notice/area.ts';
import { paymentArea } from './payment/area.ts';
import { promptArea } from './prompt/area.ts';
import { scenarioArea } from './scenario/area.ts';
import { setupArea } from './setup/area.ts';
import { sessionArea } from './session/area.ts';
import { shareArea } from './share/area.ts';
import { statsArea } from './stats/area.ts';
import { toolArea } from './tool/area.ts';
import { trainArea } from './train/area.ts';
import { speechArea } from './speech/area.ts';
import { videoArea } from './video/area.ts';
import { removeReported } from './chat/removal.service.ts';
import { goOnSignedIn } from './chat/sign-in-waits.ts';
import { makeAllPrivate } from './session/session.service.ts';
import { revokeLinksOf } from './share/share.store.ts';
import { makeProjectsPrivate } from './train/project.store.ts';
import { listForum, questionLooks } from './forum/forum-list.service.ts';
import { viewsOf } from './forum/forum.store.ts';
import { requireGroup } from './forum/groups.service.ts';
import { ownStyles, requireTrained } from './train/styles.service.ts';
import type { Area, Kit } from '../area.ts';

/**
 * Every area of the product, a line each. What one gives to another that it stands on itself is
 * handed over here.
 */
export const createAreas = (kit: Kit) => {
  const areas = [
    accountArea(kit, (): readonly Area[] => areas),
    authArea(),
    contactArea(),
    modelArea({ ownStyles }),
    localModelArea(kit),
    sessionArea({
      forum: { list: listForum, looks: questionLooks, views: viewsOf, requireGroup },
      requireTrained,
    }),
    chatArea(),
    contextArea(),
    toolArea(kit, { goOn: goOnSignedIn }),
    imageArea(kit),
    videoArea(kit),
    speechArea(kit),
    galleryArea(),
    fileArea(kit),
    exportArea(kit),
    ledgerArea(kit),
    paymentArea(),
    shareArea(),
    scenarioArea(),
    forumArea({ remove: removeReported }),
    moderationArea(kit),
    complianceArea([modelParties, safetyParties, contactParties], {
      close: async (db, userId) => {
        await makeAllPrivate(db, userId);
        await revokeLinksOf(db, userId);
        await makeProjectsPrivate(db, userId);
      },
      signing: kit.signing,
    }),
    embeddingArea(),
    trainArea(kit),
    noticeArea(),
    promptArea(),
    marketArea(kit),
    helpArea(),
    setupArea(),
    statsArea(),
    developerArea(),
  ] as const;
  return areas;
};
