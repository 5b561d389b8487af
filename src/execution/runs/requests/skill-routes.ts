import { z } from 'zod'
import { badRequest, notFound } from '../../../platform/base/problem.ts'
import { readSkillText, SKILL_FILE_NAME } from '../../../platform/contract/wedge/skill-folder.ts'
import { nameRoutes } from '../../../platform/http/route.ts'
import { skillFoldersForTaskType } from '../../../wedges/library/task-type.ts'
import { sandboxRoute } from './sandbox-routes.ts'
import { SkillFileView } from './view.ts'

/** How much of a file one call reads, in characters. */
const MAX_READ_CHARS = 100_000

/** The files of skills. They are those of the wedge that the run started with, and are found by their names in it alone. */
export const agentSkillRoutes = nameRoutes({
  readAgentSkill: sandboxRoute('GET', '/v1/internal/skills/:skill', {
    summary: 'Read a file of a skill',
    query: z.object({
      path: z.string().max(1000).default(SKILL_FILE_NAME),
      offset: z.coerce.number().int().min(0).default(0),
    }),
    responses: { 200: SkillFileView },
    async handle({ scope: { facts }, params, query: { path, offset } }) {
      const skill = skillFoldersForTaskType(facts.wedge, facts.type).find(({ name }) => name === params.skill)
      if (!skill) throw notFound('skill')
      const file = skill.files.find((one) => one.path === path.replace(/^\.\//, ''))
      if (!file) throw notFound(`file in this skill; it has ${skill.files.map((one) => one.path).join(', ')}`)
      const text = readSkillText(file.bytes)
      if (text === null) throw badRequest(`${file.path} is not text`)
      const content = text.slice(offset, offset + MAX_READ_CHARS)
      const end = offset + content.length
      return {
        skill: skill.name,
        path: file.path,
        size: file.bytes.length,
        content,
        next_offset: end < text.length ? end : null,
      }
    },
  }),
})
