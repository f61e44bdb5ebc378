# Moot with the extras for models and ACP. Command-line agents are not part of it: install those that your team uses.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY src src
COPY web web
# pip installs no folder while a file that it is given has hashes: the versions alone
RUN sed -e 's/ \\$//' -e '/--hash=/d' requirements.lock > versions.txt
RUN python -m venv /opt/moot && /opt/moot/bin/pip install --no-cache-dir --constraint versions.txt '.[llm,acp]'

FROM python:3.12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap git && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 1000 moot && mkdir /data /team && chown moot /data /team
COPY --from=build /opt/moot /opt/moot
ENV PATH=/opt/moot/bin:$PATH MOOT_DATA=/data PYTHONUNBUFFERED=1
USER moot
WORKDIR /team
VOLUME /data
EXPOSE 8765
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=3)"
ENTRYPOINT ["moot"]
CMD ["serve", "--host", "0.0.0.0", "--insecure", "--port", "8765", "--allow-host", "localhost:8765"]
