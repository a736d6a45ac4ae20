# A server of models: docker build -t handful . ; see docs/serve.md for how to run it.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/handful && /opt/handful/bin/pip install --no-cache-dir '.[web]'

FROM python:3.12-slim
COPY --from=build /opt/handful /opt/handful
# Nothing is written: the file system may be read-only, but for --label-studio FILE and /tmp.
ENV PATH=/opt/handful/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin handful
USER 10001:10001
EXPOSE 8480
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8480/health', timeout=2)"]
ENTRYPOINT ["handful", "serve", "--host", "0.0.0.0", "--port", "8480", "--json-logs"]
CMD ["/model"]
