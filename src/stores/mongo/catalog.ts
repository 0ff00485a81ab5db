import type { Publications, PublishedEntry, SkillRow, SkillRows } from '../../ports/pins.ts';
import { byVersion } from '../order.ts';
import { collection, type SkillDoc } from './collections.ts';
import type { Mongo } from './connect.ts';

export function mongoPublications({ db, attempt }: Mongo): Publications {
  const table = collection(db, 'published');
  return {
    async publish(entry) {
      const _id = `${entry.name}@${entry.version}`;
      await attempt(() => table.updateOne({ _id }, { $setOnInsert: { ...entry } }, { upsert: true }));
      const doc = await attempt(() => table.findOne({ _id }, { projection: { _id: 0 } }));
      return (doc as PublishedEntry | null) ?? entry;
    },
    async published(name) {
      // `@` is in no name, and `A` follows it.
      const filter = name === undefined ? {} : { _id: { $gte: `${name}@`, $lt: `${name}A` } };
      const entries = await attempt(() => table.find<PublishedEntry>(filter, { projection: { _id: 0 } }).toArray());
      return entries.sort(byVersion);
    },
  };
}

export function mongoSkills({ db, attempt }: Mongo): SkillRows {
  const table = collection(db, 'skills');
  return {
    async putSkill({ name, ...row }) {
      await attempt(() => table.replaceOne({ _id: name }, row, { upsert: true }));
    },
    async skill(name) {
      const doc = await attempt(() => table.findOne({ _id: name }));
      return doc === null ? null : skillOf(doc);
    },
    async skills() {
      return (await attempt(() => table.find({}, { sort: { _id: 1 } }).toArray())).map(skillOf);
    },
    async removeSkill(name) {
      return (await attempt(() => table.deleteOne({ _id: name }))).deletedCount === 1;
    },
  };
}

const skillOf = ({ _id, ...row }: SkillDoc): SkillRow => ({ name: _id, ...row });
