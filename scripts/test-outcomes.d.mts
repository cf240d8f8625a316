export interface Outcomes {
  failed: string[];
  again: string[];
}

export interface UnitReport {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

export interface BrowserReport {
  suites?: BrowserReport[];
  specs?: {
    file: string;
    title: string;
    tests: { projectName: string; status: string; results: { error?: { message: string } }[] }[];
  }[];
}

export const unitOutcomes: (report: UnitReport, root: string) => Outcomes;
export const browserOutcomes: (report: BrowserReport) => Outcomes;
