// Made from openapi.json by `npm run openapi`. Do not edit.
export const TABLE: string = `
apps.create POST /platform/v1/apps app kb
.list GET /platform/v1/apps [apps
.get GET A app
.update PATCH A app kb
.delete DELETE A app k
head.initialize POST A/source-head/initialize head dkb
.get GET A/source-head head d
.history GET A/source-head/history [heads d
projects.create POST /projects project kb
.list GET /projects [projects
.get GET /projects/: project
.update PATCH /projects/: project kb
.delete DELETE /projects/: project k
sources.import POST A/sources * dkbg
.list GET A/sources [sources d
.get GET A/sources/: source d
.files GET A/sources/:/files [files d
.file GET A/sources/:/file file d
.archive GET A/sources/:/archive bytes d
.diff GET A/sources/:/diff diff d
.search GET A/sources/:/search [matches d
threads.create POST A/threads *run kb
.list GET A/threads [threads
.get GET T thread d
.update PATCH T thread dkb
.delete DELETE T thread dk
.listAll GET /platform/v1/threads [threads
.fork POST T/fork *run dkb
.createDirect POST /threads *run kb
.listDirect GET /threads [threads
.export GET /threads/:/export export t
messages.send POST T/messages *run dkb
.list GET T/messages [messages d
.attachment GET T/messages/:/attachments/: bytes d
runs.list GET T/runs [runs d
.get GET T/runs/: run d
.tools GET T/runs/:/tools [tools d
.stop POST T/stop run dk
.retry POST T/retry run dk
checkpoints.list GET T/checkpoints [checkpoints d
.restore POST T/checkpoints/:/restore result dkb
.restoreSource POST T/restore result dkb
applies.create POST T/apply apply dkbo
.preview POST T/apply/preview preview db
.previewFile POST T/apply/preview/file file db
.list GET A/applies [applies d
.get GET A/applies/: apply d
.listAll GET /platform/v1/applies [applies
edits.create POST T/edits source dkb
execs.create POST T/exec exec dkb
pullRequests.create POST /threads/:/pull-requests pullRequest kb
.list GET /threads/:/pull-requests [pullRequests
.get GET /threads/:/pull-requests/: pullRequest
.update PATCH /threads/:/pull-requests/: pullRequest kb
.sync POST /threads/:/pull-requests/:/sync pullRequest kb
.updateBranch POST /threads/:/pull-requests/:/update-branch pullRequest kb
.merge POST /threads/:/pull-requests/:/merge pullRequest kb
.updateReviewLoop PATCH /threads/:/pull-requests/:/review-loop pullRequest kb
tasks.create POST /tasks task kb
.list GET /tasks [tasks
.get GET /tasks/: task
.update PATCH /tasks/: task kb
.delete DELETE /tasks/: task k
automations.create POST /automations * kb
.list GET /automations [automations
.previewSchedule GET /automations/schedule times
.get GET /automations/: automation
.update PATCH /automations/: automation kb
.delete DELETE /automations/: automation k
.rotateSecret POST /automations/:/secret * kb
.run POST /automations/:/run execution kb
.executions GET /automations/:/executions [executions
.execution GET /automations/:/executions/: execution
.receiveHook POST /hooks/automations/: *
approvals.list GET T/approvals [approvals d
.answer POST T/approvals/: approval dkb
builds.create POST T/builds build dkb
.list GET T/builds [builds d
.createOfApp POST A/builds build dkb
.listOfApp GET A/builds [builds d
.get GET A/builds/: build d
.artifact GET A/builds/:/artifact bytes d
.manifest GET A/builds/:/manifest manifest d
.logs GET A/builds/:/logs logs d
.cancel POST A/builds/:/cancel build dk
.listAll GET /platform/v1/builds [builds
previews.create POST T/previews preview dkb
.list GET T/previews [previews d
.createOfApp POST A/previews preview dkb
.listOfApp GET A/previews [previews d
.get GET A/previews/: preview d
.delete DELETE A/previews/: preview dk
.listAll GET /platform/v1/previews [previews
workspaces.reportActivity POST T/workspace/activity * dkb
.policy GET T/workspace/policy * d
.history GET T/workspace/history [records d
settings.get GET A/settings settings d
.update PATCH A/settings settings dkb
.runtimes GET /runtimes [runtimes
.getOrganization GET /settings settings
.updateOrganization PATCH /settings settings kb
environment.list GET A/environment [variables d
.get GET A/environment/: variable d
.set PUT A/environment/: variable dkb
.delete DELETE A/environment/: variable dk
.listOrganization GET /environment [variables
.getOrganization GET /environment/: variable
.setOrganization PUT /environment/: variable kb
.deleteOrganization DELETE /environment/: variable k
setups.list GET A/setups [setups d
.create POST A/setups setup dkb
.get GET A/setups/: setup d
.logs GET A/setups/:/logs logs d
skills.list GET A/skills [skills d
.get GET A/skills/: skill d
.set PUT A/skills/: skill dkb
.delete DELETE A/skills/: skill dk
.archive GET A/skills/:/archive bytes d
.listOrganization GET /skills [skills
.getOrganization GET /skills/: skill
.setOrganization PUT /skills/: skill kb
.deleteOrganization DELETE /skills/: skill k
.organizationArchive GET /skills/:/archive bytes
operations.list GET /operations [operations
.get GET /operations/: operation
models.list GET /models [models
modelKeys.list GET /model-keys [modelKeys
.set PUT /model-keys/: modelKey kb
.delete DELETE /model-keys/: modelKey k
usage.read GET /usage [usage
mcpServers.create POST /mcp-servers mcpServer kb
.list GET /mcp-servers [mcpServers
.get GET /mcp-servers/: mcpServer
.update PATCH /mcp-servers/: mcpServer kb
.delete DELETE /mcp-servers/: mcpServer k
webhooks.create POST /webhooks * kb
.list GET /webhooks [subscriptions
.get GET /webhooks/: subscription
.update PATCH /webhooks/: subscription kb
.delete DELETE /webhooks/: subscription k
.rotateSecret POST /webhooks/:/secret * kb
.test POST /webhooks/:/test delivery k
.deliveries GET /webhooks/:/deliveries [deliveries
.delivery GET /webhooks/:/deliveries/: delivery
.redeliver POST /webhooks/:/deliveries/:/redeliver delivery k
hosts.create POST /hosts * kb
.list GET /hosts [hosts
.get GET /hosts/: host
.update PATCH /hosts/: host kb
.delete DELETE /hosts/: host k
.rotateToken POST /hosts/:/token * k
.bindings GET /hosts/:/bindings [bindings
scm.listInstallations GET /source-control/scm/installations [installations
.createInstallation POST /source-control/scm/installations * kb
.getInstallation GET /source-control/scm/installations/: installation
.updateInstallation PATCH /source-control/scm/installations/: installation kb
.deleteInstallation DELETE /source-control/scm/installations/: installation k
.syncInstallation POST /source-control/scm/installations/:/sync installation k
.receiveWebhook POST /source-control/scm/webhooks/: duplicate
.createRepository POST /source-control/scm/repositories repository kb
.listRepositories GET /source-control/scm/repositories [repositories
.getRepository GET /source-control/scm/repositories/: repository
.updateRepository PATCH /source-control/scm/repositories/: repository kb
.deleteRepository DELETE /source-control/scm/repositories/: repository k
.listBranches GET /source-control/scm/repositories/:/branches [branches
.inspectRepository GET /source-control/scm/repositories/:/inspect inspection
.createStatus POST /source-control/scm/repositories/:/commits/:/statuses status kb
.listStatuses GET /source-control/scm/repositories/:/commits/:/statuses [statuses
.createPullRequest POST /source-control/scm/repositories/:/pull-requests pullRequest kb
.listPullRequests GET /source-control/scm/repositories/:/pull-requests [pullRequests
.getPullRequest GET /source-control/scm/repositories/:/pull-requests/: pullRequest
.updatePullRequest PATCH /source-control/scm/repositories/:/pull-requests/: pullRequest kb
.mergePullRequest POST /source-control/scm/repositories/:/pull-requests/:/merge pullRequest kb
.createComment POST /source-control/scm/repositories/:/pull-requests/:/comments comment kb
.listComments GET /source-control/scm/repositories/:/pull-requests/:/comments [comments
.updateComment PATCH /source-control/scm/repositories/:/pull-requests/:/comments/: comment kb
session.signIn POST /auth/sign-in/email * b
.signOut POST /auth/sign-out -
.get GET /session *
.switchOrganization PUT /session/organization * kb
.changePassword PATCH /session/password * kb
sessions.list GET /sessions [sessions
.end DELETE /sessions/: session k
organizations.create POST /organizations organization kb
.delete DELETE /organizations/: organization k
members.list GET /members [members
.invite POST /members invitation kb
.update PATCH /members/: member kb
.remove DELETE /members/: member k
invitations.list GET /invitations [invitations
.revoke DELETE /invitations/: invitation k
.accept POST /invitations/:/accept * b
accounts.create POST /service-accounts * kb
.list GET /service-accounts [accounts
.get GET /service-accounts/: account
.update PATCH /service-accounts/: account kb
.delete DELETE /service-accounts/: account k
credentials.rotate POST /service-accounts/:/credentials * kb
.list GET /service-accounts/:/credentials [credentials
.revoke DELETE /service-accounts/:/credentials/: credential k
audit.list GET /audit [entries
system.get GET /system system
.stuck GET /system/stuck [stuck
health.get GET /health *
.ready GET /health/ready status
`;
