import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { projectsQuery } from '../../api/setup-queries.ts'
import type { Project } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { settingsText } from './text.ts'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { Section } from '../../ui/page.tsx'
import { RowActions, Table } from '../../ui/table.tsx'

const text = settingsText.projects
const INVALIDATES = ['projects', 'session', 'wedges']

/** Each project has its own tasks, clients and keys. */
export function Projects({ isKey }: { isKey: boolean }) {
  const query = useQuery(projectsQuery)
  const hasRole = useHasRole()
  const [edited, setEdited] = useState<Project | 'new' | null>(null)
  return (
    <Section
      title={text.title}
      actions={
        <RequireRole minRole="admin">
          {!isKey && (
            <Button small variant="primary" onClick={() => setEdited('new')}>
              {text.new}
            </Button>
          )}
        </RequireRole>
      }
    >
      {!hasRole('admin') && <RoleHint>{text.roleHint}</RoleHint>}
      <QueryResult query={query}>
        {(projects) => (
          <Table
            label={text.title}
            columns={[settingsText.name, text.tier, text.wedges]}
            actions={{ name: settingsText.actions, minRole: 'admin' }}
          >
            {projects.map((project) => (
              <tr key={project.id}>
                <td className="font-medium">{project.name}</td>
                <td>{project.tier}</td>
                <td className="text-muted">
                  {project.wedges === null ? text.all : project.wedges.join(', ') || text.none}
                </td>
                <RowActions minRole="admin">
                  <Button small onClick={() => setEdited(project)}>
                    {text.edit}
                    <span className="sr-only"> {project.name}</span>
                  </Button>
                </RowActions>
              </tr>
            ))}
          </Table>
        )}
      </QueryResult>
      {edited && <ProjectForm project={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </Section>
  )
}

function ProjectForm({ project, onClose }: { project: Project | null; onClose: () => void }) {
  const [name, setName] = useState(project?.name ?? '')
  const [wedges, setWedges] = useState(project?.wedges ?? null)
  const { data: known = [] } = useQuery(wedgesQuery)
  const save = useApiMutation(
    () =>
      project
        ? callOperation('updateProject', { id: project.id, body: { name, wedges } }, { allProjects: true })
        : callOperation('createProject', { body: { name, wedges } }, { allProjects: true }),
    { invalidates: INVALIDATES, onSuccess: onClose },
  )
  const toggle = (wedge: string, on: boolean) =>
    setWedges(on ? [...(wedges ?? []), wedge] : (wedges ?? []).filter((one) => one !== wedge))
  return (
    <FormDialog
      title={project ? text.editTitle(project.name) : text.new}
      submitLabel={text.save}
      canSubmit={name.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField label={settingsText.name} value={name} onChange={setName} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 font-medium">{text.wedges}</legend>
        <Checkbox
          label={text.allWedges}
          checked={wedges === null}
          onChange={(on) => setWedges(on ? null : known.map(({ wedge }) => wedge))}
        />
        {wedges !== null &&
          known.map(({ wedge, title }) => (
            <Checkbox key={wedge} label={title} checked={wedges.includes(wedge)} onChange={(on) => toggle(wedge, on)} />
          ))}
      </fieldset>
    </FormDialog>
  )
}
