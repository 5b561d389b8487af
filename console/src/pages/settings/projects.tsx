import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { projectsQuery } from '../../api/setup.ts'
import type { Project } from '../../api/types.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Check, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May, OthersDo, useMay } from '../../ui/may.tsx'
import { Acts, Section, Table } from '../../ui/table.tsx'

const STALE = ['projects', 'session', 'wedges']

/** Projects keep their work, clients and keys apart. */
export function Projects({ isKey }: { isKey: boolean }) {
  const query = useQuery(projectsQuery)
  const may = useMay()
  const [edited, setEdited] = useState<Project | 'new' | null>(null)
  return (
    <Section
      title="Projects"
      actions={
        <May least="admin">
          {!isKey && (
            <Button small look="primary" onClick={() => setEdited('new')}>
              New project
            </Button>
          )}
        </May>
      }
    >
      {!may('admin') && <OthersDo>admins set projects up</OthersDo>}
      <Loaded query={query}>
        {(projects) => (
          <Table label="Projects" head={['Name', 'Tier', 'Wedges']} acts={{ name: 'Change', least: 'admin' }}>
            {projects.map((project) => (
              <tr key={project.id}>
                <td className="font-medium">{project.name}</td>
                <td>{project.tier}</td>
                <td className="text-muted">{project.wedges === null ? 'all' : project.wedges.join(', ') || 'none'}</td>
                <Acts least="admin">
                  <Button small onClick={() => setEdited(project)}>
                    Change<span className="sr-only"> {project.name}</span>
                  </Button>
                </Acts>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      {edited && <ProjectForm project={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </Section>
  )
}

function ProjectForm({ project, onClose }: { project: Project | null; onClose: () => void }) {
  const [name, setName] = useState(project?.name ?? '')
  const [wedges, setWedges] = useState(project?.wedges ?? null)
  const { data: known = [] } = useQuery(wedgesQuery)
  const save = useWrite(
    () =>
      call(project ? `/v1/projects/${project.id}` : '/v1/projects', {
        method: project ? 'PUT' : 'POST',
        body: { name, wedges },
        everyProject: true,
      }),
    { stale: STALE, onDone: onClose },
  )
  const toggle = (wedge: string, on: boolean) =>
    setWedges(on ? [...(wedges ?? []), wedge] : (wedges ?? []).filter((one) => one !== wedge))
  return (
    <FormDialog
      title={project ? `Change ${project.name}` : 'New project'}
      submit="Save"
      ready={name.trim() !== ''}
      write={save}
      onClose={onClose}
    >
      <Text label="Name" value={name} onChange={setName} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 font-medium">Wedges</legend>
        <Check
          label="All, also those to come"
          checked={wedges === null}
          onChange={(on) => setWedges(on ? null : known.map(({ wedge }) => wedge))}
        />
        {wedges !== null &&
          known.map(({ wedge, title }) => (
            <Check key={wedge} label={title} checked={wedges.includes(wedge)} onChange={(on) => toggle(wedge, on)} />
          ))}
      </fieldset>
    </FormDialog>
  )
}
