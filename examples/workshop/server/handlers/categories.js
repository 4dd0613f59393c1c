function list(_request, ctx) {
  const body = ctx.store.categories.all().map((category) => ({
    ...category,
    tools: ctx.store.tools.where((tool) => tool.category === category.id && tool.condition !== 'retired').length,
  }));
  return { status: 200, body };
}

export const routes = [{ method: 'GET', path: '/api/categories', allow: 'visitor', handle: list }];
