FROM python:3.12-slim

WORKDIR /srv/lossscale
COPY pyproject.toml README.md LICENSE ./
COPY lossscale_core lossscale_core
COPY app app
RUN pip install --no-cache-dir . && useradd --system --no-create-home lossscale

USER lossscale
# The host under which readers reach the page, such as explorer.example.org (comma list; * for any).
ENV PORT=5006 LOSSSCALE_ORIGINS=""
EXPOSE 5006
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://localhost:{os.environ[\"PORT\"]}/liveness', timeout=4)"]
CMD ["lossscale", "serve", "--address", "0.0.0.0", "--no-show"]
