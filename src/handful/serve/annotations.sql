PRAGMA application_id = 1751545203;
PRAGMA user_version = 1;
CREATE TABLE projects (model TEXT, project TEXT, config TEXT NOT NULL, PRIMARY KEY (model, project));
CREATE TABLE annotations (
    model TEXT, project TEXT, id INTEGER, task INTEGER NOT NULL, text TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (model, project, id)
);
