// Made from openapi.json by `npm run openapi`. Do not edit.
export const TABLE: string = `
apps.create POST /platform/v1/apps app kb
apps.list GET /platform/v1/apps [apps
apps.get GET A app
apps.update PATCH A app kb
apps.delete DELETE A app k
head.initialize POST A/source-head/initialize head dkb
head.get GET A/source-head head d
head.history GET A/source-head/history [heads d
projects.create POST /projects project kb
projects.list GET /projects [projects
projects.get GET /projects/: project
projects.update PATCH /projects/: project kb
projects.delete DELETE /projects/: project k
sources.import POST A/sources * dkbg
sources.list GET A/sources [sources d
sources.get GET A/sources/: source d
sources.files GET A/sources/:/files [files d
sources.file GET A/sources/:/file file d
sources.archive GET A/sources/:/archive bytes d
sources.diff GET A/sources/:/diff diff d
threads.create POST A/threads *run kb
threads.list GET A/threads [threads
threads.get GET T thread d
threads.update PATCH T thread dkb
threads.delete DELETE T thread dk
threads.listAll GET /platform/v1/threads [threads
threads.createDirect POST /threads *run kb
threads.listDirect GET /threads [threads
threads.export GET /threads/:/export export
messages.send POST T/messages *run dkb
messages.list GET T/messages [messages d
messages.attachment GET T/messages/:/attachments/: bytes d
runs.list GET T/runs [runs d
runs.get GET T/runs/: run d
runs.tools GET T/runs/:/tools [tools d
runs.stop POST T/stop run dk
runs.retry POST T/retry run dk
checkpoints.list GET T/checkpoints [checkpoints d
checkpoints.restore POST T/checkpoints/:/restore result dkb
checkpoints.restoreSource POST T/restore result dkb
applies.create POST T/apply apply dkbo
applies.preview POST T/apply/preview preview db
applies.previewFile POST T/apply/preview/file file db
applies.list GET A/applies [applies d
applies.get GET A/applies/: apply d
applies.listAll GET /platform/v1/applies [applies
edits.create POST T/edits source dkb
execs.create POST T/exec exec dkb
pullRequests.create POST /threads/:/pull-requests pullRequest kb
pullRequests.list GET /threads/:/pull-requests [pullRequests
pullRequests.get GET /threads/:/pull-requests/: pullRequest
pullRequests.update PATCH /threads/:/pull-requests/: pullRequest kb
pullRequests.sync POST /threads/:/pull-requests/:/sync pullRequest kb
pullRequests.updateBranch POST /threads/:/pull-requests/:/update-branch pullRequest kb
pullRequests.merge POST /threads/:/pull-requests/:/merge pullRequest kb
pullRequests.updateReviewLoop PATCH /threads/:/pull-requests/:/review-loop pullRequest kb
tasks.create POST /tasks task kb
tasks.list GET /tasks [tasks
tasks.get GET /tasks/: task
tasks.update PATCH /tasks/: task kb
tasks.delete DELETE /tasks/: task k
automations.create POST /automations * kb
automations.list GET /automations [automations
automations.previewSchedule GET /automations/schedule times
automations.get GET /automations/: automation
automations.update PATCH /automations/: automation kb
automations.delete DELETE /automations/: automation k
automations.rotateSecret POST /automations/:/secret * kb
automations.run POST /automations/:/run execution kb
automations.executions GET /automations/:/executions [executions
automations.execution GET /automations/:/executions/: execution
automations.receiveHook POST /hooks/automations/: *
approvals.list GET T/approvals [approvals d
approvals.answer POST T/approvals/: approval dkb
builds.create POST T/builds build dkb
builds.list GET T/builds [builds d
builds.get GET A/builds/: build d
builds.artifact GET A/builds/:/artifact bytes d
builds.manifest GET A/builds/:/manifest manifest d
builds.logs GET A/builds/:/logs logs d
builds.cancel POST A/builds/:/cancel build dk
builds.listAll GET /platform/v1/builds [builds
previews.create POST T/previews preview dkb
previews.list GET T/previews [previews d
previews.get GET A/previews/: preview d
previews.delete DELETE A/previews/: preview dk
previews.listAll GET /platform/v1/previews [previews
workspaces.reportActivity POST T/workspace/activity * dkb
workspaces.policy GET T/workspace/policy * d
workspaces.history GET T/workspace/history [records d
settings.get GET A/settings settings d
settings.update PATCH A/settings settings dkb
settings.runtimes GET /runtimes [runtimes
settings.getOrganization GET /settings settings
settings.updateOrganization PATCH /settings settings kb
operations.list GET /operations [operations
operations.get GET /operations/: operation
models.list GET /models [models
modelKeys.list GET /model-keys [modelKeys
modelKeys.set PUT /model-keys/: modelKey kb
modelKeys.delete DELETE /model-keys/: modelKey k
usage.read GET /usage [usage
mcpServers.create POST /mcp-servers mcpServer kb
mcpServers.list GET /mcp-servers [mcpServers
mcpServers.get GET /mcp-servers/: mcpServer
mcpServers.update PATCH /mcp-servers/: mcpServer kb
mcpServers.delete DELETE /mcp-servers/: mcpServer k
webhooks.create POST /webhooks * kb
webhooks.list GET /webhooks [subscriptions
webhooks.get GET /webhooks/: subscription
webhooks.update PATCH /webhooks/: subscription kb
webhooks.delete DELETE /webhooks/: subscription k
webhooks.rotateSecret POST /webhooks/:/secret * kb
webhooks.test POST /webhooks/:/test delivery k
webhooks.deliveries GET /webhooks/:/deliveries [deliveries
webhooks.delivery GET /webhooks/:/deliveries/: delivery
webhooks.redeliver POST /webhooks/:/deliveries/:/redeliver delivery k
scm.listInstallations GET /source-control/scm/installations [installations
scm.createInstallation POST /source-control/scm/installations * kb
scm.getInstallation GET /source-control/scm/installations/: installation
scm.updateInstallation PATCH /source-control/scm/installations/: installation kb
scm.deleteInstallation DELETE /source-control/scm/installations/: installation k
scm.syncInstallation POST /source-control/scm/installations/:/sync installation k
scm.receiveWebhook POST /source-control/scm/webhooks/: duplicate
scm.createRepository POST /source-control/scm/repositories repository kb
scm.listRepositories GET /source-control/scm/repositories [repositories
scm.getRepository GET /source-control/scm/repositories/: repository
scm.updateRepository PATCH /source-control/scm/repositories/: repository kb
scm.deleteRepository DELETE /source-control/scm/repositories/: repository k
scm.listBranches GET /source-control/scm/repositories/:/branches [branches
scm.inspectRepository GET /source-control/scm/repositories/:/inspect inspection
scm.createStatus POST /source-control/scm/repositories/:/commits/:/statuses status kb
scm.listStatuses GET /source-control/scm/repositories/:/commits/:/statuses [statuses
scm.createPullRequest POST /source-control/scm/repositories/:/pull-requests pullRequest kb
scm.listPullRequests GET /source-control/scm/repositories/:/pull-requests [pullRequests
scm.getPullRequest GET /source-control/scm/repositories/:/pull-requests/: pullRequest
scm.updatePullRequest PATCH /source-control/scm/repositories/:/pull-requests/: pullRequest kb
scm.mergePullRequest POST /source-control/scm/repositories/:/pull-requests/:/merge pullRequest kb
scm.createComment POST /source-control/scm/repositories/:/pull-requests/:/comments comment kb
scm.listComments GET /source-control/scm/repositories/:/pull-requests/:/comments [comments
scm.updateComment PATCH /source-control/scm/repositories/:/pull-requests/:/comments/: comment kb
session.signIn POST /auth/sign-in/email * b
session.signOut POST /auth/sign-out -
session.get GET /session *
session.switchOrganization PUT /session/organization * kb
session.changePassword PATCH /session/password * kb
sessions.list GET /sessions [sessions
sessions.end DELETE /sessions/: session k
organizations.create POST /organizations organization kb
organizations.delete DELETE /organizations/: organization k
members.list GET /members [members
members.invite POST /members invitation kb
members.update PATCH /members/: member kb
members.remove DELETE /members/: member k
invitations.list GET /invitations [invitations
invitations.revoke DELETE /invitations/: invitation k
invitations.accept POST /invitations/:/accept * b
accounts.create POST /service-accounts * kb
accounts.list GET /service-accounts [accounts
accounts.get GET /service-accounts/: account
accounts.update PATCH /service-accounts/: account kb
accounts.delete DELETE /service-accounts/: account k
credentials.rotate POST /service-accounts/:/credentials * kb
credentials.list GET /service-accounts/:/credentials [credentials
credentials.revoke DELETE /service-accounts/:/credentials/: credential k
audit.list GET /audit [entries
system.get GET /system system
system.stuck GET /system/stuck [stuck
health.get GET /health *
health.ready GET /health/ready status
`;
